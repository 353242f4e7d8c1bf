import { chmod } from "node:fs/promises";
import type { Context } from "#config/context.ts";
import { restoreRegistration } from "#setup/registration/enable.ts";
import { installHookProgram } from "#setup/registration/hook-program.ts";
import { knowsPathOfNode } from "#setup/registration/lines-in-settings.ts";
import type { AgentLookup } from "#setup/registration/settings.ts";
import { isHookWanted, registrationsByName } from "./checks/hook.ts";
import { examinedOf } from "./facts/examined.ts";
import { isOfDeletedProject } from "./facts/hook.ts";
import type { AgentStatus } from "./facts/shape.ts";
import { exposedFiles } from "./facts/tried.ts";

/** What `doctor --fix` did, one line each. */
export interface FixReport {
  readonly done: readonly string[];
  readonly failed: readonly string[];
}

/**
 * Fixes what is safe to fix: modes of our own files, the hook program, registrations that `enable` made and that were removed
 * since, and on Windows lines that start `node` by its name. Never changes the store's content or the queue.
 */
export async function fix(context: Context, agents: AgentLookup, hookSource: string): Promise<FixReport> {
  const done: string[] = [];
  const failed: string[] = [];
  const attempt = async (what: string, work: () => Promise<string | undefined>): Promise<void> => {
    try {
      const result = await work();
      if (result !== undefined) done.push(result);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      failed.push(`could not ${what}: ${error.message}`);
    }
  };
  for (const { path, mode } of await exposedFiles(context)) {
    await attempt(`close ${path} to others`, async () => {
      await chmod(path, mode);
      return `${path} is private again`;
    });
  }
  const { facts } = await examinedOf(context, await agents.list());
  if (isHookWanted(facts) || facts.hook.installed) {
    await attempt("install the hook program", async () =>
      (await installHookProgram(context, hookSource)) ? `reinstalled the hook program: ${facts.hook.path}` : undefined,
    );
  }
  for (const { agent, registration } of goneIn(facts.agents)) {
    await attempt(`register with ${agent.title} again`, () =>
      restoreRegistration(agent.source, registration, context, agents, hookSource),
    );
  }
  // Lines that may start a repository's program, written while Node's path could not be in them; only if it can now
  for (const agent of knowsPathOfNode(context) ? facts.agents : []) {
    for (const registration of await registrationsByName(agent, context)) {
      await attempt(`register with ${agent.title} again`, () =>
        restoreRegistration(agent.source, registration, context, agents, hookSource),
      );
    }
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
