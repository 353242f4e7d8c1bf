import { variableFiles } from "#agents/registry.ts";
import { allowedNodeOptions } from "#collect/intake/inbox-file.ts";
import type { Context } from "#config/context.ts";
import { doubtfulVariables, foldersOfAgents, recordVariables } from "#config/recorded-variables.ts";
import { printLines } from "#kit/text/ascii.ts";
import { printable } from "#kit/text/terminal.ts";

/**
 * The variables that `enable` records. Variables that a file of the current folder's repository names are left out, because an agent
 * may have started the command with them.
 *
 * @returns `own`: what can be recorded; `theirs`: variable name → file
 */
export async function variablesToRecord({ env: all, cwd, places }: Context) {
  const env = { ...all, NODE_OPTIONS: allowedNodeOptions(all["NODE_OPTIONS"]) };
  const searched = { folders: [cwd, ...foldersOfAgents(all)], home: places.home, files: await variableFiles() };
  const theirs = await doubtfulVariables(env, places.stateDir, searched);
  return { own: Object.fromEntries(Object.entries(env).filter(([name]) => !theirs.has(name))), theirs };
}

/** Records them, so that drains that hooks start recognise the user's values, also where a repository names the same variable. */
export async function recordOwnVariables(context: Context): Promise<void> {
  const { own, theirs } = await variablesToRecord(context);
  await recordVariables(own, context.places.stateDir);
  const lines = [...theirs].map(([name, path]) => {
    // The folder that is HOME is searched wherever enable runs
    const remedy = name === "HOME" ? `write ~ instead of $HOME there` : "run enable in your home folder instead";
    return `! ${name} is not recorded, because ${path} names it: ${remedy}`;
  });
  printLines(context, lines.map(printable));
}
