import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { ONLY_FROM_PATH, systemProgram } from "../model/system-program.ts";

/**
 * The environment of a command that provides headers: what the system says about the user, and nothing of this process, whose
 * variables can come from an agent and its repository.
 */
export function providerEnvironment(home: string, platform: NodeJS.Platform): Readonly<Record<string, string>> {
  if (platform === "win32") return windowsEnvironment(home);
  const { username, uid } = userOf();
  const runtime = `/run/user/${uid}`;
  return {
    HOME: home,
    USER: username,
    LOGNAME: username,
    PATH: "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
    LANG: "C.UTF-8",
    // For keyrings
    ...(existsSync(runtime) && {
      XDG_RUNTIME_DIR: runtime,
      DBUS_SESSION_BUS_ADDRESS: `unix:path=${runtime}/bus`,
    }),
  };
}

// --- internal ---

function windowsEnvironment(home: string): Readonly<Record<string, string>> {
  const system = systemProgram("", {}).replace(/\\$/, "");
  const root = system.replace(/\\System32$/, "");
  const local = `${home}\\AppData\\Local`;
  return {
    SystemRoot: root,
    windir: root,
    ComSpec: systemProgram("cmd.exe", {}),
    PATH: `${system};${root};${system}\\WindowsPowerShell\\v1.0`,
    PATHEXT: ".COM;.EXE;.BAT;.CMD",
    USERPROFILE: home,
    APPDATA: `${home}\\AppData\\Roaming`,
    LOCALAPPDATA: local,
    TEMP: `${local}\\Temp`,
    TMP: `${local}\\Temp`,
    ...ONLY_FROM_PATH,
  };
}

/** A container's user may have no entry. */
function userOf(): { readonly username: string; readonly uid: number } {
  try {
    return userInfo();
  } catch {
    return { username: "", uid: process.getuid?.() ?? -1 };
  }
}
