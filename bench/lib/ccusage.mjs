import { existsSync } from "node:fs";
import { join } from "node:path";
import { measure } from "./measure.mjs";
import { ROOT } from "./options.mjs";

/**
 * The native reader that ours is measured against: started directly, and as its users start it, by the npm package's launcher.
 *
 * @returns `undefined`, after saying so, where this platform has no native package
 */
export async function findCcusage() {
  const name = `@ccusage/ccusage-${process.platform}-${process.arch}`;
  const binary = join(ROOT, "node_modules", name, "bin", process.platform === "win32" ? "ccusage.exe" : "ccusage");
  const launcher = join(ROOT, "node_modules", "ccusage", "src", "cli.js");
  const missing = [binary, launcher].find((path) => !existsSync(path));
  if (missing !== undefined) {
    console.log(`\nNOT MEASURED AGAINST ccusage: there is no ${missing}. Goals that compare with it stay open.\n`);
    return undefined;
  }
  // Its launcher makes the binary executable, which npm does not
  const { stdout } = await measure([process.execPath, launcher, "--version"], { env: process.env });
  return { version: stdout.trim(), native: [binary], launcher: [process.execPath, launcher] };
}

/** What it is asked for: one agent's days, as JSON, without the network. */
export const dailyOf = ({ folder }) => [folder.slice(1), "daily", "--offline", "--json"];

/** What it said, under the names of our totals. Its input leaves out what was read from a cache. */
export function totalsOfCcusage({ source }, stdout) {
  const { inputTokens, outputTokens, cacheReadTokens, ...rest } = JSON.parse(stdout).totals;
  const both = { output: outputTokens, cache_read: cacheReadTokens };
  return source === "codex"
    ? { input: inputTokens + cacheReadTokens, ...both, reasoning: rest.reasoningOutputTokens }
    : { input: inputTokens, ...both, cache_creation: rest.cacheCreationTokens };
}
