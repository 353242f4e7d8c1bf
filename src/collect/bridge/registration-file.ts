import { createHash } from "node:crypto";
import { closeSync, lstatSync, readSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isOurCommand } from "#agents/shared/settings/settings.ts";
import { DISCOVERY_NAME, discoveryIn } from "#config/discovery.ts";
import type { Places } from "#config/places.ts";
import { foldersUpToRoot } from "#config/project.ts";
import { messageOf } from "#kit/errors.ts";
import { openRegularSync } from "#kit/open.ts";

/** A command of a registration file. */
export interface BridgeCommand {
  readonly command: string;
  /** Event types; `*`: all. */
  readonly events: readonly string[];
  /** True: sessions do not wait for each other. False: one envelope after another. */
  readonly isAsync: boolean;
}

/** A registration file that may be used once the user allows it. */
export interface RegistrationFile {
  /** With links in its folder's path resolved. */
  readonly path: string;
  /** Commands run there. */
  readonly folder: string;
  /** SHA-256 of its bytes, in hexadecimal digits. */
  readonly digest: string;
  /** User id; `undefined` on systems without. */
  readonly owner: number | undefined;
  /** Without our own registration. */
  readonly commands: readonly BridgeCommand[];
  /** How many entries start our own hook. */
  readonly own: number;
}

/** A registration file that is never used as it is. */
interface RefusedFile {
  readonly path: string;
  readonly problem: string;
}

/** The user that this process runs as. `sudoUid`: the user who started it with `sudo`. */
export interface Runner {
  readonly uid: number | undefined;
  readonly sudoUid?: number;
}

/** Limits for one file. */
export const MAX_BYTES = 64 * 1024;
export const MAX_COMMANDS = 32;

/** The user's own file, for the sessions of all projects: beside the configuration file. */
export const userFileOf = ({ configPath }: Pick<Places, "configPath">): string =>
  join(dirname(configPath), "openhook.json");

/** The project's file for a folder: the nearest one, up to the root of its repository. `undefined`: there is none. */
export const projectFileOf = (folder: string): string | undefined =>
  foldersUpToRoot(folder)
    .map((at) => join(at, DISCOVERY_NAME))
    .find(isThere);

/**
 * Reads a registration file. What it contains is run later, so it must be a regular file of this user, in a folder that no other
 * user can write to.
 *
 * @returns `undefined` if there is none
 * @throws never
 */
export function readRegistrationFile(path: string, runner: Runner): RegistrationFile | RefusedFile | undefined {
  try {
    const folder = realpathSync(dirname(path));
    const real = join(folder, basename(path));
    const problem = problemOf(real, folder, runner);
    if (problem !== undefined) return { path: real, problem };
    const { fd, stats } = openRegularSync(real, [folder]);
    try {
      // The same file that was looked at: its owner again, after opening
      if (runner.uid !== undefined && stats.uid !== runner.uid) return { path: real, problem: OTHER_OWNER };
      if (stats.size > MAX_BYTES) return { path: real, problem: `it is larger than ${MAX_BYTES} bytes` };
      const owner = runner.uid === undefined ? undefined : stats.uid;
      return contentOf(bytesOf(fd), { path: real, folder, owner });
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return { path, problem: `it cannot be read: ${messageOf(error)}` };
  }
}

// --- internal ---

const OTHER_OWNER = "it belongs to another user";
const [OTHERS_WRITE, STICKY] = [0o002, 0o1000] as const;
/** Our hook as users write it by hand: `openhook-otel hook`, also with a path, `npx`, `env` or in another shell. */
const STARTS_OUR_HOOK = /(?:^|[\s/\\"'=;&|(`])openhook-otel(?:\.cjs|\.cmd|@[\w.~^-]+)?["']?\s+hook(?![\w-])/;
const MAX_COMMAND_CHARACTERS = 8_192;

function problemOf(path: string, folder: string, { uid, sudoUid }: Runner): string | undefined {
  const found = lstatSync(path);
  if (found.isSymbolicLink()) return "it is a link";
  if (!found.isFile()) return "it is not a regular file";
  if (uid === undefined) return undefined;
  if (uid === 0 && sudoUid !== undefined && sudoUid !== 0) return "sudo runs this as root; run it without sudo";
  if (found.uid !== uid) return OTHER_OWNER;
  const above = lstatSync(folder);
  // The owner of the folder can replace the program that a relative command starts
  if (above.uid !== uid && above.uid !== 0) return "its folder belongs to another user";
  if ((above.mode & OTHERS_WRITE) !== 0) {
    return `its folder can be written by all users${(above.mode & STICKY) === 0 ? "" : ", who could add programs there"}`;
  }
  return undefined;
}

const isThere = (path: string): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
};

/** At most one byte more than the limit. */
function bytesOf(fd: number): Buffer {
  const bytes = Buffer.alloc(MAX_BYTES + 1);
  let length = 0;
  for (let read = -1; read !== 0 && length < bytes.length; length += read) {
    read = readSync(fd, bytes, length, bytes.length - length, length);
  }
  return bytes.subarray(0, length);
}

function contentOf(
  bytes: Buffer,
  { path, folder, owner }: Pick<RegistrationFile, "path" | "folder" | "owner">,
): RegistrationFile | RefusedFile {
  if (bytes.length > MAX_BYTES) return { path, problem: `it is larger than ${MAX_BYTES} bytes` };
  const found = discoveryIn(bytes.toString("utf8"));
  if (typeof found === "string") return { path, problem: `it does not follow OpenHook v0.1: ${found}` };
  const own = found.hooks.filter(({ command }) => isOurCommand(command) || STARTS_OUR_HOOK.test(command));
  const others = new Map<string, BridgeCommand>();
  for (const { command, events, async: isAsync } of found.hooks.filter((hook) => !own.includes(hook))) {
    if (command.length > MAX_COMMAND_CHARACTERS || command.includes("\0")) {
      return { path, problem: `a command is longer than ${MAX_COMMAND_CHARACTERS} characters or contains a NUL` };
    }
    const same = others.get(command);
    others.set(command, {
      command,
      // A command that is listed twice is one command
      events: [...new Set([...(same?.events ?? []), ...events])],
      isAsync: isAsync && same?.isAsync !== false,
    });
  }
  if (others.size > MAX_COMMANDS) return { path, problem: `it has more than ${MAX_COMMANDS} commands` };
  const digest = createHash("sha256").update(bytes).digest("hex");
  return { path, folder, digest, owner, commands: [...others.values()], own: own.length };
}
