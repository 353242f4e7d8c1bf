import { readFile, realpath } from "node:fs/promises";
import { distrust } from "../../config/machine-file.ts";
import type { Context } from "../../context.ts";
import { folderOf, versionOf } from "../../registration/installed-copy.ts";
import { managedConfPathOf, managedFolderOf, managedHookOf } from "../../registration/managed-places.ts";
import { managedProgramFiles } from "../../registration/managed-program.ts";
import { VERSION } from "../../version.ts";
import { asRoot, brokenManagedHook, managedHookConf } from "../status/managed-hook.ts";
import { type Finding, inArea } from "./finding.ts";
import { tryHook } from "./try-hook.ts";

/**
 * The hook for all users: whether it records events, only root can have written it, and it is of this version. What keeps it from running
 * is reported with the agents.
 *
 * @param isWanted whether an agent is registered for all users
 */
export async function* managedHookFindings(
  isWanted: boolean,
  context: Context,
  hookSource: string,
): AsyncGenerator<Finding> {
  const { platform } = context;
  const { ok, remark, broken } = inArea("hook");
  const { files, folders } = await managedProgramFiles(platform);
  const enable = asRoot("enable", platform);
  if (!isWanted) {
    if (files.length + folders.length === 0) return;
    const text = `${managedFolderOf(platform)} has the hook program for all users, but no agent is enabled for all users`;
    return yield remark(text, asRoot("disable", platform));
  }
  if ((await brokenManagedHook(platform)).length > 0) return;
  const hook = managedHookOf(platform);
  const { node, program } = await managedHookConf(platform);
  for (const path of [hook, managedConfPathOf(platform), node, program]) {
    const problem = path === null ? undefined : await distrust(await realpath(path));
    if (problem !== undefined) yield broken(`hooks for all users use ${path}, but ${problem}`, enable);
  }
  const failure = await tryHook({ program: hook, args: (folder) => [`--trial=${folder}`, "doctor"] }, context);
  if (failure !== undefined) yield broken(`${hook} was started as an agent starts it, and ${failure}`, enable);
  const version = program === null ? null : versionOf(program);
  if (version !== VERSION) {
    yield remark(
      `hooks for all users use ${version ?? "an unknown version"} (${program}), and this is ${VERSION}`,
      enable,
    );
  } else if (!(await isSame(hook, hookSource))) yield remark(`${hook} is from another build of ${VERSION}`, enable);
  else if (failure === undefined)
    yield ok(`${hook}, for all users, records an event and starts drains with ${program}`);
  const unused = folders.filter((folder) => program === null || folder !== folderOf(program));
  if (unused.length === 0) return;
  const todo = `${enable} (an hour after the update) removes what no process runs`;
  yield remark(`hooks for all users do not use ${unused.join(", ")}`, todo);
}

// --- internal ---

async function isSame(path: string, other: string): Promise<boolean> {
  const [one, two] = await Promise.all([path, other].map((file) => readFile(file).catch(() => undefined)));
  return one === undefined || two === undefined || one.equals(two);
}
