import { accessSync, constants, statSync } from "node:fs";
import { chmod, mkdir, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isOurCommand } from "../agents/shared/settings/settings.ts";
import { readFileIfAny, removeFile, writeFileAtomic } from "../config/files.ts";
import { type Context, UserError } from "../context.ts";
import type { HookCommand } from "../model/agent.ts";
import { suggest } from "../model/suggest.ts";
import { refuseSudo } from "./sudo.ts";
import { wrapperPathOf, wrapperProgram } from "./wrappers.ts";

/**
 * The command line that agents run. Below 80 characters at the standard place, since some agents show it to the model.
 *
 * - The same text on every machine and in both scopes: Claude Code runs equal command lines once, and a project's
 *   settings hold no home directory.
 * - A missing program ends with 0: an uninstalled hook must not disturb the agent (Copilot would deny the tool).
 */
export function hookCommandOf({ places, platform, nodePath }: Context): HookCommand {
  if (platform === "win32") {
    return ({ source, event, reply, drain }) => {
      const told = [
        ...(event === undefined ? [] : ["--event", windowsWord(event)]),
        ...(reply === undefined ? [] : ["--reply", windowsWord(reply)]),
      ];
      return [`"${nodePath}"`, `"${places.hookPath}"`, "--source", source, "--drain", drain, ...told].join(" ");
    };
  }
  const standard = join(places.home, ".local", "share", "openhook-otel", "hook") === places.hookPath;
  const program = standard ? "~/.local/share/openhook-otel/hook" : quoted(places.hookPath);
  const flags = { yes: ["-d"], "if-waiting": ["-w"], no: [] } as const;
  return ({ source, event, reply, drain, shell }) => {
    const told = [
      ...(event === undefined && reply === undefined ? [] : [word(event ?? "")]),
      ...(reply === undefined ? [] : [word(reply)]),
    ];
    // fish has no assignments, and then says so
    const start = shell === "user" ? `[ ! -x ${program} ]||exec ${program}` : `h=${program};[ ! -x "$h" ]||exec "$h"`;
    const line = [start, ...flags[drain], source, ...told].join(" ");
    // moved to a folder of another name, the line must still tell whose it is
    return isOurCommand(line) ? line : `${line} #openhook-otel`;
  };
}

/**
 * Puts the program that agents start, what it must know, and the directories it writes to in their places; the wrapper of
 * programs too, where there is one. Files that are right already are not written.
 *
 * @param hookSource the shipped program, absolute
 * @returns whether anything of it was missing or different
 * @throws UserError when the shipped program is missing, `sudo` has made this root, or nothing may run at its place; FileError
 *         when a place cannot be written
 */
export async function installHookProgram(context: Context, hookSource: string): Promise<boolean> {
  const { places, nodePath, programPath, platform } = context;
  await refuseSudo(context);
  const program = await shipped(hookSource);
  for (const path of [places.stateDir, places.inboxDir, places.claimedDir, places.quarantineDir]) {
    await makePrivate(path, platform);
  }
  const conf = `state=${quoted(places.stateDir)}\nnode=${quoted(nodePath)}\nprogram=${quoted(programPath)}\n`;
  // the program reads its configuration, so that comes first
  const written = [
    await writeIfDifferent(places.hookConfPath, Buffer.from(conf), 0o600),
    await writeIfDifferent(places.hookPath, program, 0o755),
  ];
  const wrapper = wrapperPathOf(places);
  if ((await readFileIfAny(wrapper)) !== undefined) {
    written.push(await writeIfDifferent(wrapper, Buffer.from(wrapperProgram(context)), 0o755));
  }
  if (isBarred(places.hookPath, platform)) throw new UserError("E_INSTALLATION", barredBy(places.hookPath), 1);
  return written.includes(true);
}

/** Whether the installed hook is the shipped one: an update of this program leaves that of the version before in its place. */
export async function isHookCurrent({ places }: Pick<Context, "places">, hookSource: string): Promise<boolean> {
  return (await readFileIfAny(places.hookPath))?.equals(await shipped(hookSource)) === true;
}

/** Whether a program cannot be started although its mode allows it, as on a file system that is mounted `noexec`. */
export function isBarred(path: string, platform: NodeJS.Platform): boolean {
  // There the Node binary runs it
  if (platform === "win32") return false;
  try {
    accessSync(path, constants.X_OK);
    return false;
  } catch {
    return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o111) === 0o111;
  }
}

/** What that means, and what to do. */
export const barredBy = (path: string): string =>
  `${path} cannot be executed: no program may run in its folder (noexec), so that no agent could be collected; set OPENHOOK_OTEL_HOME to a folder where programs may run, then: ${suggest("enable")}`;

/** Takes the program and its configuration away. The state stays. */
export async function removeHookProgram({ places }: Context): Promise<void> {
  await removeFile(places.hookPath);
  await removeFile(places.hookConfPath);
  const directory = dirname(places.hookPath);
  // fails where something of the user's is in it, which is right
  if (directory !== places.stateDir) await rmdir(directory).catch(() => {});
}

// --- internal ---

async function shipped(hookSource: string): Promise<Buffer> {
  const program = await readFileIfAny(hookSource);
  if (program !== undefined) return program;
  throw new UserError("E_INSTALLATION", `${hookSource} is missing: build or install openhook-otel again`, 1);
}

/** Of a text that may hold anything, for a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const isPlain = (text: string): boolean => /^[\w.:/-]+$/.test(text);

/** One word of a POSIX shell's line. */
const word = (text: string): string => (text === "" ? '""' : isPlain(text) ? text : quoted(text));

/** One argument, by the rules with which Windows programs take their command line apart. */
const windowsWord = (text: string): string =>
  isPlain(text) ? text : `"${text.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, "$1$1")}"`;

async function makePrivate(path: string, platform: NodeJS.Platform): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    if (platform !== "win32" && ((await stat(path)).mode & 0o077) !== 0) await chmod(path, 0o700);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const advice = "remove what is in its place, or set OPENHOOK_OTEL_HOME to another folder";
    const text = `cannot make the directory ${JSON.stringify(path)}: ${reason}; ${advice}`;
    throw new UserError("E_STATE", text, 1, { cause: error });
  }
}

/** @returns whether it was written */
async function writeIfDifferent(path: string, content: Buffer, mode: number): Promise<boolean> {
  const now = await readFileIfAny(path);
  const right = now?.equals(content) === true && ((await stat(path)).mode & mode) === mode;
  if (!right) await writeFileAtomic(path, content, { mode, forceMode: true });
  return !right;
}
