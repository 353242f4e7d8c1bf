import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { readIfThere, startIfThere } from "#agents/shared/settings/project-line.ts";
import { isOurCommand } from "#agents/shared/settings/settings.ts";
import type { Context } from "#config/context.ts";
import type { HookCommand } from "#core/model/installer.ts";
import { UserError } from "#kit/errors.ts";
import { systemProgram } from "#kit/system-program.ts";

/**
 * The command line of hooks on Linux and macOS. Several agents run it in the shell that the user chose, and some do not document which,
 * so one form serves sh, bash, zsh, fish, dash, ksh and tcsh: it has no assignment, which fish and tcsh refuse. For shells without `||` and
 * `[` (nushell, elvish, PowerShell) sh runs the same line, which costs one more process.
 *
 * Agents that run sh get a line in which that sh reads the program instead of starting another one. fish and tcsh start it from the
 * same line, because Claude Code runs its hooks in the user's shell on some machines.
 *
 * @param program as a shell reads it: it may be quoted, or begin with `~/`
 * @param env `SHELL` decides whether sh must run it
 * @param shell `sh`: the agent runs it in sh
 * @throws UserError if sh must run it and the path has a character that the user's shell or sh would replace
 */
export function posixLine(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  shell?: "sh",
): string {
  const isRead = shell === "sh" && isLikeSh(env["SHELL"]);
  const line = (isRead ? readIfThere : startIfThere)(program, args.map(word));
  // If the folder's name does not show that the line is ours, a comment does
  const marked = isOurCommand(line) ? line : `${line} #openhook-otel`;
  if (isLikeSh(env["SHELL"])) return marked;
  if (!/["\\$`]/.test(marked)) return `sh -c "${marked}"`;
  throw new UserError(
    "E_STATE",
    `the shell ${env["SHELL"]} cannot run a hook line that names ${program}: set OPENHOOK_OTEL_HOME to a folder without quotes, \\, $ and \` in its path`,
  );
}

/** The words after the program. */
export function posixArgs({ source, event, reply, drain }: Parameters<HookCommand>[0]): readonly string[] {
  const flags = { yes: ["-d"], "if-waiting": ["-w"], soon: ["-s"], no: [] } as const;
  return [
    ...flags[drain],
    source,
    ...(event === undefined && reply === undefined ? [] : [event ?? ""]),
    ...(reply === undefined ? [] : [reply]),
  ];
}

/** Quotes any text for a POSIX shell and fish. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** One word of such a command line. */
export const word = (text: string): string => (/^[\w.:/-]+$/.test(text) ? text : quoted(text));

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

/** Whether a shell has `||`, `[` and `exec` as sh has them. Without `SHELL` agents use sh. */
const isLikeSh = (shell: string | undefined): boolean =>
  shell === undefined || shell === "" || LIKE_SH.test(basename(shell));

const LIKE_SH = /^-?(?:r?bash|[rlp]?zsh|r?(?:m|ok|lok|pd)?ksh(?:93)?|d?ash|sh|yash|busybox|fish|t?csh)(?:-[\d.]+)?$/;

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
