import { delimiter, isAbsolute, relative, sep } from "node:path";
import { BRIDGE_VARIABLE } from "../intake/inbox-file.ts";

/**
 * The environment of a command: what programs need to find themselves, the user and the language, and nothing that the agent or its
 * repository may have set. Folders of the project are left out of PATH, so that a repository does not replace programs.
 *
 * @param env of this process
 * @param folder in which the command runs
 * @param isProject whether the folder is a project's
 */
export function commandEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  { folder, home, isProject }: { readonly folder: string; readonly home: string; readonly isProject: boolean },
): Readonly<Record<string, string>> {
  const kept = Object.entries(env).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && KEPT.has(pair[0].toUpperCase()),
  );
  const path = (env["PATH"] ?? env["Path"] ?? "")
    .split(delimiter)
    .filter((one) => isAbsolute(one) && !(isProject && isIn(one, folder)));
  return {
    ...Object.fromEntries(kept),
    PATH: path.length > 0 ? path.join(delimiter) : DEFAULT_PATH,
    ...(process.platform !== "win32" && { HOME: home }),
    [BRIDGE_VARIABLE]: "openhook-otel",
  };
}

// --- internal ---

const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

const KEPT: ReadonlySet<string> = new Set([
  ...["USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_TIME", "TZ", "TMPDIR"],
  ...["XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"],
  // For notifications on the desktop
  ...["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"],
  // Windows
  ...["SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERNAME", "USERPROFILE"],
  ...["HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROCESSOR_ARCHITECTURE"],
]);

function isIn(path: string, folder: string): boolean {
  const rest = relative(folder, path);
  return rest === "" || (rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest));
}
