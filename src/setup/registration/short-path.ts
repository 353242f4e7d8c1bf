import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import type { Context } from "#config/context.ts";
import { systemProgram } from "#kit/system-program.ts";

/**
 * Windows' short name for a path with blanks, such as `C:\PROGRA~1\nodejs\node.exe`: a hook's line cannot begin with quotes, and cmd
 * searches a bare `node` in the current folder first, which is somebody's repository.
 *
 * @returns the path itself if it needs no other name, or if its disk has none
 */
export function shortPath(path: string, { platform, env }: Pick<Context, "platform" | "env">): string {
  if (platform !== "win32" || !path.includes(" ") || /["%^!]/.test(path)) return path;
  const known = found.get(path);
  if (known !== undefined) return known;
  const short = shortNameOf(path, env) ?? path;
  found.set(path, short);
  return short;
}

// --- internal ---

const found = new Map<string, string>();

/** Only cmd gives it without more programs. */
function shortNameOf(path: string, env: Context["env"]): string | undefined {
  const line = `for %I in ("${path}") do @echo %~sI`;
  const { stdout } = spawnSync(systemProgram("cmd.exe", env), ["/d", "/c", line], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    timeout: CMD_MS,
    windowsHide: true,
    windowsVerbatimArguments: true,
  });
  try {
    // A name that the console wrote in other characters leads nowhere
    const short = stdout.trim();
    return realpathSync.native(short) === realpathSync.native(path) ? short : undefined;
  } catch {
    return undefined;
  }
}

const CMD_MS = 5000;
