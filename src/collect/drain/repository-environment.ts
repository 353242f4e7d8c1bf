import { variableFiles } from "#agents/registry.ts";
import type { Context } from "#config/context.ts";
import { placesOf } from "#config/places.ts";
import { doubtfulVariables, foldersOfAgents, systemHome } from "#config/variables.ts";
import { suggest } from "#kit/suggest.ts";
import { startDrain } from "../intake/hook.ts";
import { allowedNodeOptions, HOOK_FOLDER, HOOK_NODE_OPTIONS, HOOK_STATE } from "../intake/inbox-file.ts";
import { DrainLog } from "./log.ts";

/**
 * A drain that a hook started has the agent's environment. A variable that `enable` did not record with this value and that a file
 * of the agent's repository names may come from that file: another drain is started without it, and the log contains its name.
 *
 * @param options of the drain, beside `--quiet`
 * @returns whether another drain was started: then this process must do nothing more
 */
export async function restartWithoutRepositoryVariables(
  context: Context,
  options: readonly string[] = [],
): Promise<boolean> {
  const folder = context.env[HOOK_FOLDER];
  if (folder === undefined) return false;
  const isRecordedState = context.env[HOOK_STATE] === "recorded";
  const { [HOOK_FOLDER]: _, [HOOK_STATE]: __, [HOOK_NODE_OPTIONS]: handedOver, ...given } = context.env;
  const nodeOptions = allowedNodeOptions(handedOver || given["NODE_OPTIONS"]);
  const env = { ...given, NODE_OPTIONS: nodeOptions };
  // Agents report the folder in which the session began, which may be another one by now
  const at = { folders: [folder, ...foldersOfAgents(env)], home: context.places.home, files: await variableFiles() };
  const theirs = await doubtfulVariables(env, isRecordedState ? context.places.stateDir : undefined, at);

  const clean = Object.fromEntries(Object.entries(env).filter(([name]) => !theirs.has(name)));
  const home = theirs.has("HOME") ? (systemHome() ?? "/") : context.places.home;
  const places = placesOf({ env: clean, home, platform: context.platform });
  if (theirs.size > 0) {
    const log = new DrainLog({ now: context.now, places });
    for (const [name, path] of theirs) {
      log.line(
        `configuration: environment variable ${name} is ignored, because ${path} names it: whose value it is cannot be decided. ` +
          `To use yours: ${suggest("config set KEY VALUE")}, or ${suggest("enable")} in your home folder with the variable set`,
      );
    }
    await log.flush();
  }
  const isRunningWithout = [...theirs.keys()].every((name) => name === "NODE_OPTIONS" && !given[name]);
  const needsOptions = !theirs.has("NODE_OPTIONS") && nodeOptions !== (given["NODE_OPTIONS"] ?? "");
  if (isRunningWithout && !needsOptions) return false;
  const { nodePath, programPath } = context;
  startDrain({ stateDir: places.stateDir, nodePath, programPath }, clean, options);
  return true;
}
