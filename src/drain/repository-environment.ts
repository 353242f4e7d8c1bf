import { userInfo } from "node:os";
import { dirname } from "node:path";
import { allAgents } from "../agents/registry.ts";
import { placesOf } from "../config/places.ts";
import { variablesOfRepositories } from "../config/repository-variables.ts";
import type { Context } from "../context.ts";
import { startDrain } from "../intake/hook.ts";
import { allowedNodeOptions, HOOK_FOLDER } from "../intake/inbox-file.ts";
import { DrainLog } from "./log.ts";

/**
 * A drain that a hook started has the agent's environment. If files of the agent's repository set any of our variables, another
 * drain is started without them, and the log names them.
 *
 * @returns whether that happened: then this process must do nothing more
 */
export async function restartWithoutRepositoryVariables(context: Context): Promise<boolean> {
  const folder = context.env[HOOK_FOLDER];
  if (folder === undefined) return false;
  // Agents report the folder in which the session began, which may be another one by now
  const agentFolders = Object.entries(context.env).flatMap(([name, value = ""]) =>
    FOLDER_OF_AGENT.test(name) ? value : [],
  );
  const files = (await allAgents()).flatMap((agent) => agent.setsVariablesFrom ?? []);
  const givenHome = context.places.home;
  // A repository that is set as the home folder would otherwise not be examined
  const [isNamed] = await variablesOfRepositories(
    { HOME: context.env["HOME"] },
    { folders: [givenHome], home: dirname(givenHome), files },
    letThrough,
  );
  const ownHome = isNamed === undefined ? givenHome : userInfo().homedir;
  const at = { folders: [folder, ...agentFolders], home: ownHome, files };
  const theirs = await variablesOfRepositories(context.env, at, letThrough);
  if (theirs.size === 0) return false;
  const env = Object.fromEntries(
    Object.entries(context.env).filter(([name]) => name !== HOOK_FOLDER && !theirs.has(name)),
  );
  const home = theirs.has("HOME") ? userInfo().homedir : givenHome;
  const clean = { ...context, env, places: placesOf({ env, home, platform: context.platform }) };
  const log = new DrainLog(clean);
  for (const [name, path] of theirs) {
    if (USED.test(name))
      log.line(`configuration: environment variable ${name} is ignored, because it is set in ${path}`);
  }
  await log.flush();
  const { nodePath, programPath } = context;
  startDrain({ stateDir: clean.places.stateDir, nodePath, programPath }, env);
  return true;
}

/** The part of a variable's value that the hook passes on to a drain. */
export const letThrough = (name: string, value: string | undefined): string | undefined =>
  name === "NODE_OPTIONS" ? allowedNodeOptions(value) || undefined : value;

// --- internal ---

const FOLDER_OF_AGENT = /^[A-Z]+_(?:PROJECT_DIR|CWD)$/;
const USED = /^(?:OPENHOOK_)?OTEL_|^(?:HOME|XDG_[A-Z]+_HOME|NODE_[A-Z_]+)$/;
