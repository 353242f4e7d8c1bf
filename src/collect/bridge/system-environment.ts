import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { ONLY_FROM_PATH, systemProgram } from "#kit/system-program.ts";

type Variables = Readonly<Record<string, string>>;

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

/** The user on Linux and macOS, and the session of their desktop, which is another one after each login. */
export function userVariables(home: string): Variables {
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

// --- internal ---

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
