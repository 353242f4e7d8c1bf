import { chmod } from "node:fs/promises";
import type { Context } from "../context.ts";
import { UserError } from "../context.ts";
import { exposed, isHookWanted } from "../health/doctor/machine.ts";
import { collectStatus } from "../health/status/facts.ts";
import { isOfDeletedProject } from "../health/status/installed.ts";
import type { AgentStatus } from "../health/status/shape.ts";
import { installHookProgram } from "../registration/hook-program.ts";
import type { AgentLookup } from "../registration/settings-edit.ts";
import { enable } from "./enable.ts";

/** What a mend came to: one line each. */
export interface Mended {
  readonly done: readonly string[];
  readonly failed: readonly string[];
}

/**
 * Mends what can be mended without a question: modes of our own files, the hook program, registrations that `enable`
 * made and somebody took out. Never touches the store's content, nor what waits.
 */
export async function mend(context: Context, agents: AgentLookup, hookSource: string): Promise<Mended> {
  const done: string[] = [];
  const failed: string[] = [];
  const attempt = async (what: string, work: () => Promise<string | undefined>): Promise<void> => {
    try {
      const said = await work();
      if (said !== undefined) done.push(said);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      failed.push(`could not ${what}: ${error.message}`);
    }
  };
  for (const { path, mode } of await exposed(context)) {
    await attempt(`close ${path} to others`, async () => {
      await chmod(path, mode);
      return `${path} is private again`;
    });
  }
  const status = await collectStatus(context, await agents.list());
  if (isHookWanted(status) || status.hook.installed) {
    await attempt("install the hook program", async () =>
      (await installHookProgram(context, hookSource))
        ? `installed the hook program anew: ${status.hook.path}`
        : undefined,
    );
  }
  for (const { agent, registration } of goneIn(status.agents)) {
    await attempt(`register with ${agent.title} again`, async () => {
      let said = "";
      const there = { ...context, stdout: { write: (text: string) => (said += text) } };
      const at = registration.project === null ? there : { ...there, cwd: registration.project };
      const { scope } = registration;
      const code = await enable([agent.source], { scope, yes: true, dryRun: false, hookSource }, at, agents);
      if (code !== 0) throw new UserError("E_FIX", said.trim(), 1);
      return said.trim().split("\n")[0];
    });
  }
  return { done, failed };
}

// --- internal ---

function* goneIn(agents: readonly AgentStatus[]) {
  for (const agent of agents) {
    for (const registration of agent.registrations) {
      if (registration.state === "gone" && !isOfDeletedProject(registration)) yield { agent, registration };
    }
  }
}
