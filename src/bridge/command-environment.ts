import { realpathSync } from "node:fs";
import { delimiter, dirname, isAbsolute, relative, sep } from "node:path";
import { foldersUpToRoot } from "../config/project-files.ts";
import { BRIDGE_VARIABLE } from "../intake/inbox-file.ts";
import { ONLY_FROM_PATH, systemProgram } from "../model/system-program.ts";
import { userVariables } from "./system-environment.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** Whose folders may not add programs to PATH. */
interface ProgramSearch {
  /** Folders of the file, of the session and of the agent. */
  readonly projects: readonly string[];
  readonly home: string;
}

/**
 * The environment of a command: what programs need to find themselves, the user and the language. Its values are those that
 * `bridge allow` recorded and those that the system gives, never those of a drain: an agent starts it, and a repository's settings can
 * set the agent's variables.
 *
 * @param recorded what `keptVariables` returned when the user allowed the file
 */
export function commandEnvironment(recorded: Variables, search: ProgramSearch): Readonly<Record<string, string>> {
  return {
    ...keptVariables(recorded),
    PATH: programPath(recorded, search),
    ...(process.platform === "win32" ? ONLY_FROM_PATH : userVariables(search.home)),
    [BRIDGE_VARIABLE]: "openhook-otel",
  };
}

/** The variables that a command gets, to be recorded. */
export const keptVariables = (env: Variables): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined && isKept(pair[0])),
  );

/**
 * PATH without relative folders, folders of projects and those of `npm run`, so that a repository does not replace programs.
 *
 * @returns the system's folders if nothing is left
 */
export function programPath(env: Variables, { projects, home }: ProgramSearch): string {
  const roots = projects.flatMap((folder) => rootOf(folder, realOf(home)));
  const path = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter((one) => {
    if (!isAbsolute(one)) return false;
    const real = realOf(one);
    return !PACKAGES.test(one) && !PACKAGES.test(real) && !roots.some((root) => isIn(one, root) || isIn(real, root));
  });
  return path.length > 0 ? path.join(delimiter) : defaultPath(env);
}

// --- internal ---

const defaultPath = (env: Variables): string =>
  process.platform === "win32" ? dirname(systemProgram("cmd.exe", env)) : "/usr/local/bin:/usr/bin:/bin";

const isKept = (name: string): boolean => name.toUpperCase() === "PATH" || KEPT.has(name.toUpperCase());

const KEPT: ReadonlySet<string> = new Set([
  ...["USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_TIME", "TZ", "TMPDIR"],
  ...["XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"],
  // For notifications on the desktop
  ...["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"],
  // Windows
  ...["SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERNAME", "USERPROFILE"],
  ...["HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROCESSOR_ARCHITECTURE"],
]);

/** `npm run` puts these folders, the project's and those of all folders above it, first into PATH. */
const PACKAGES = /[/\\]node_modules[/\\]\.bin[/\\]?$/;

/** The folders whose programs are left out: the folder, and its repository unless the user's home with own programs is in it. */
function rootOf(folder: string, home: string): readonly string[] {
  const root = foldersUpToRoot(folder).at(-1);
  if (root === undefined) return [];
  if (!isIn(home, root)) return [root, folder];
  return isIn(home, realOf(folder)) ? [] : [realOf(folder), folder];
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function isIn(path: string, folder: string): boolean {
  const rest = relative(folder, path);
  return rest === "" || (rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest));
}
