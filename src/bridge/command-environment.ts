import { realpathSync } from "node:fs";
import { delimiter, dirname, isAbsolute, relative, sep } from "node:path";
import { foldersUpToRoot } from "../config/project-files.ts";
import { BRIDGE_VARIABLE } from "../intake/inbox-file.ts";
import { ONLY_FROM_PATH, systemProgram } from "../model/system-program.ts";

/**
 * The environment of a command: what programs need to find themselves, the user and the language, and nothing that the agent or its
 * repository may have set. Folders of projects are left out of PATH, so that a repository does not replace programs.
 *
 * @param env of this process
 * @param projects folders whose repositories may not add programs: the file's, the session's, the agent's
 */
export function commandEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  { projects, home }: { readonly projects: readonly string[]; readonly home: string },
): Readonly<Record<string, string>> {
  const kept = Object.entries(env).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && KEPT.has(pair[0].toUpperCase()),
  );
  const roots = projects.flatMap((folder) => rootOf(folder, realOf(home)));
  const path = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter((one) => {
    if (!isAbsolute(one)) return false;
    const real = realOf(one);
    return !PACKAGES.test(one) && !PACKAGES.test(real) && !roots.some((root) => isIn(one, root) || isIn(real, root));
  });
  return {
    ...Object.fromEntries(kept),
    PATH: path.length > 0 ? path.join(delimiter) : defaultPath(env),
    ...(process.platform === "win32" ? ONLY_FROM_PATH : { HOME: home }),
    [BRIDGE_VARIABLE]: "openhook-otel",
  };
}

// --- internal ---

const defaultPath = (env: Parameters<typeof systemProgram>[1]): string =>
  process.platform === "win32" ? dirname(systemProgram("cmd.exe", env)) : "/usr/local/bin:/usr/bin:/bin";

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
