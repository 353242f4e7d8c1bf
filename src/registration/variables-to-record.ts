import { allAgents } from "../agents/registry.ts";
import { doubtfulVariables, foldersOfAgents } from "../config/doubtful-variables.ts";
import type { Context } from "../context.ts";
import { allowedNodeOptions } from "../intake/inbox-file.ts";

/**
 * The variables that `enable` records. Variables that a file of the current folder's repository names are left out, because an agent
 * may have started the command with them.
 *
 * @returns `own`: what can be recorded; `theirs`: variable name → file
 */
export async function variablesToRecord({ env: given, cwd, places }: Context) {
  const env = { ...given, NODE_OPTIONS: allowedNodeOptions(given["NODE_OPTIONS"]) };
  const files = (await allAgents()).flatMap((agent) => agent.setsVariablesFrom ?? []);
  const at = { folders: [cwd, ...foldersOfAgents(given)], home: places.home, files };
  const theirs = await doubtfulVariables(env, places.stateDir, at);
  return { own: Object.fromEntries(Object.entries(env).filter(([name]) => !theirs.has(name))), theirs };
}
