import { readFile, realpath } from "node:fs/promises";
import { windowsLine } from "#agents/shared/settings/windows-line.ts";
import type { Context } from "#config/context.ts";
import { distrust } from "#config/machine-file.ts";
import { VERSION } from "#kit/version.ts";
import { folderOf } from "#setup/registration/copy-folders.ts";
import { versionOf } from "#setup/registration/installed-copy.ts";
import { managedLine } from "#setup/registration/managed.ts";
import { managedConfPathOf, managedFolderOf, managedHookOf } from "#setup/registration/managed-places.ts";
import { managedProgramFiles, outsideProgramFiles } from "#setup/registration/managed-program.ts";
import { asRoot, brokenManagedHook, managedHookConf } from "../facts/hook.ts";
import type { Tried } from "../facts/tried.ts";
import { type Finding, inArea } from "../finding.ts";

import { inShell, TRIAL_WORDS, type Trial, tryHook, windowsShells } from "./try-hook.ts";

/**
 * The hook for all users: whether it records events, only root can have written it, and it is of this version. What keeps it from running
 * is reported with the agents.
 */
export async function* managedHookFindings({ facts, context, hookSource }: Tried): AsyncGenerator<Finding> {
  const { platform } = context;
  const { ok, remark, broken } = inArea("hook");
  const { files, folders } = await managedProgramFiles(platform);
  const enable = asRoot("enable", platform);
  if (facts.agents.every(({ managed }) => managed === null)) {
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
  const unusable = platform === "win32" && node !== null ? await outsideProgramFiles(node) : undefined;
  if (unusable !== undefined) yield broken(`hooks for all users use ${node}, but ${unusable}`, enable);
  const failure = await failureOf(hook, node ?? "node", context);
  if (failure !== undefined) {
    // Where the disk has no short names, the line has no path of Node
    const remedy = platform === "win32" ? `check that node is in PATH for all users; ${enable}` : enable;
    yield broken(`${hook} was started as an agent starts it, and ${failure}`, remedy);
  }
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

/** Starts it as agents do: on Windows in each shell that they use. */
async function failureOf(hook: string, node: string, context: Context): Promise<string | undefined> {
  const { platform, env } = context;
  const line = () => windowsLine(managedLine(node, context), [TRIAL_WORDS]);
  const starts: readonly Trial[] =
    platform === "win32"
      ? (await windowsShells(env)).map((shell) => inShell(shell, line()))
      : [{ program: hook, args: (folder) => [`--trial=${folder}`, "doctor"] }];
  for (const start of starts) {
    const failure = await tryHook(start, context);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

async function isSame(path: string, other: string): Promise<boolean> {
  const [bytes, otherBytes] = await Promise.all([path, other].map((file) => readFile(file).catch(() => undefined)));
  return bytes === undefined || otherBytes === undefined || bytes.equals(otherBytes);
}
