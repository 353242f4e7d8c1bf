import { allAgents } from "#agents/registry.ts";
import type { DrainDeps } from "#collect/drain/context.ts";
import type { Context } from "#config/context.ts";
import { loadConfigAndPrices } from "#config/own-prices.ts";
import { VERSION } from "#kit/version.ts";

/** The dependencies of a drain, from the running process: configuration, agents, clock. */
export async function drainDeps(context: Context, log: (line: string) => void): Promise<DrainDeps> {
  const loaded = await loadConfigAndPrices(context);
  for (const line of [...loaded.errors, ...loaded.warnings]) log(`configuration: ${line}`);
  const sudo = context.env["SUDO_UID"] ?? "";
  return {
    places: context.places,
    loaded,
    agents: await allAgents(),
    version: VERSION,
    platform: context.platform,
    arch: context.arch,
    env: context.env,
    now: context.now,
    sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
    log,
    // Most drains do not need it
    coverageOf: async (observed) => (await import("#check/health/coverage.ts")).coverageOf(observed),
    restart: [context.nodePath, context.programPath, "drain", "--quiet"],
    ...(/^\d{1,10}$/.test(sudo) && { sudoUid: Number(sudo) }),
  };
}
