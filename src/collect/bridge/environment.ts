import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import type { Context } from "#config/context.ts";
import type { Env } from "#config/environment.ts";
import { type ProgramSearch, programPath } from "#config/programs.ts";
import { foldersOfAgents, namedByRepositories } from "#config/variables.ts";
import { ONLY_FROM_PATH, systemProgram } from "#kit/system-program.ts";
import { BRIDGE_VARIABLE } from "../intake/inbox-file.ts";
import type { RegistrationFile } from "./registration-file.ts";

type Variables = Readonly<Record<string, string>>;

/**
 * The environment of a command: what programs need to find themselves, the user and the language. Its values are those that
 * `bridge allow` recorded and those that the system gives, never those of a drain: an agent starts it, and a repository's settings can
 * set the agent's variables.
 *
 * @param recorded what `keptVariables` returned when the user allowed the file
 */
export function commandEnvironment(recorded: Env, search: ProgramSearch): Readonly<Record<string, string>> {
  return {
    ...keptVariables(recorded),
    PATH: programPath(recorded, search),
    ...(process.platform === "win32" ? ONLY_FROM_PATH : userVariables(search.home)),
    [BRIDGE_VARIABLE]: "openhook-otel",
  };
}

/** The variables that a command gets, to be recorded. */
export const keptVariables = (env: Env): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined && isKept(pair[0])),
  );

/**
 * The variables for a file's commands, without those that a repository names: an agent may have started `bridge allow`.
 *
 * @param files see `variableFiles`
 */
export async function ownVariables(
  { folder }: Pick<RegistrationFile, "folder">,
  files: readonly string[],
  { cwd, env, places }: Pick<Context, "cwd" | "env" | "places">,
): Promise<Readonly<Record<string, string>>> {
  const kept = keptVariables(env);
  const folders = [cwd, folder, ...foldersOfAgents(env)];
  const theirs = await namedByRepositories(Object.keys(kept), { folders, home: places.home, files });
  return Object.fromEntries(Object.entries(kept).filter(([name]) => !theirs.has(name)));
}

/**
 * A complete environment, made from what the system says about the user. Nothing is from the environment of this process: an agent starts
 * it, and a repository's settings can set the agent's variables.
 */
export const systemEnvironment = (home: string, platform: NodeJS.Platform): Variables =>
  platform === "win32"
    ? windowsEnvironment(home)
    : {
        ...userVariables(home),
        PATH: "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        LANG: "C.UTF-8",
      };

// --- internal ---

/** The user on Linux and macOS, and the session of their desktop, which is another one after each login. */
function userVariables(home: string): Variables {
  const runtime = `/run/user/${process.getuid?.()}`;
  const desktop = existsSync(`${runtime}/bus`) && {
    XDG_RUNTIME_DIR: runtime,
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${runtime}/bus`,
  };
  try {
    const { username, shell } = userInfo();
    return { USER: username, LOGNAME: username, ...(shell !== null && { SHELL: shell }), ...desktop, HOME: home };
  } catch {
    // The user has no entry, as in some containers
    return { ...desktop, HOME: home };
  }
}

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

function windowsEnvironment(home: string): Variables {
  const root = systemProgram("", {}).replace(/\\System32\\$/, "");
  const local = `${home}\\AppData\\Local`;
  return {
    SystemRoot: root,
    windir: root,
    ComSpec: systemProgram("cmd.exe", {}),
    PATH: `${root}\\System32;${root};${root}\\System32\\WindowsPowerShell\\v1.0`,
    PATHEXT: ".COM;.EXE;.BAT;.CMD",
    USERPROFILE: home,
    APPDATA: `${home}\\AppData\\Roaming`,
    LOCALAPPDATA: local,
    TEMP: `${local}\\Temp`,
    TMP: `${local}\\Temp`,
    ...ONLY_FROM_PATH,
  };
}
