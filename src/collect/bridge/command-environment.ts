import { type ProgramSearch, programPath } from "#config/program-path.ts";
import { ONLY_FROM_PATH } from "#kit/system-program.ts";
import { BRIDGE_VARIABLE } from "../intake/inbox-file.ts";
import { userVariables } from "./system-environment.ts";

type Variables = Readonly<Record<string, string | undefined>>;

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

// --- internal ---

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
