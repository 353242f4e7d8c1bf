import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { systemProgram } from "#kit/system-program.ts";

/** A shell in which agents run hooks. */
export interface Shell {
  readonly title: string;
  readonly program: string;
  /** Before the command line. */
  readonly args: readonly string[];
  /** For lines of hook.sh. @default lines for Windows */
  readonly of?: "posix";
  /** cmd.exe quotes differently, so Node must not add quotes. */
  readonly isVerbatim?: true;
}

/**
 * The shells on a Windows machine in which agents run hooks, as far as they run at all: a policy can forbid PowerShell.
 *
 * @param env with the folders of Windows and its programs
 */
export async function windowsShells(env: Readonly<Record<string, string | undefined>>): Promise<readonly Shell[]> {
  const programs = env["ProgramFiles"] ?? env["PROGRAMFILES"] ?? "C:\\Program Files";
  const known: readonly Shell[] = [
    { title: "cmd", program: systemProgram("cmd.exe", env), args: ["/d", "/s", "/c"], isVerbatim: true },
    {
      title: "Windows PowerShell",
      program: systemProgram("WindowsPowerShell\\v1.0\\powershell.exe", env),
      args: POWERSHELL,
    },
    { title: "PowerShell", program: `${programs}\\PowerShell\\7\\pwsh.exe`, args: POWERSHELL },
    { title: "Git Bash", program: `${programs}\\Git\\bin\\bash.exe`, args: ["-c"] },
  ];
  const present = known.filter(({ program }) => existsSync(program));
  const runs = await Promise.all(present.map((shell) => prints(shell, env)));
  return present.filter((_, index) => runs[index]);
}

/** The user's own shell on Linux and macOS, in which several agents run hooks; `undefined` if it is not known. */
export function userShell(env: Readonly<Record<string, string | undefined>>): Shell | undefined {
  const program = env["SHELL"];
  if (program === undefined || !isAbsolute(program) || !existsSync(program)) return undefined;
  return { title: program, program, args: ["-c"], of: "posix" };
}

/** The arguments for `execFile`, and its option for them. */
export const argumentsOf = ({ args, isVerbatim }: Shell, line: string) => ({
  args: [...args, isVerbatim === true ? `"${line}"` : line],
  windowsVerbatimArguments: isVerbatim === true,
});

// --- internal ---

const POWERSHELL = ["-NoProfile", "-NonInteractive", "-Command"];
const START_MS = 10_000;

/** Whether the shell runs commands. */
function prints(shell: Shell, env: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  return new Promise((done) => {
    const { args, ...option } = argumentsOf(shell, "echo openhook");
    const options = { env, timeout: START_MS, killSignal: "SIGKILL", windowsHide: true, ...option } as const;
    const child = execFile(shell.program, args, options, (error, stdout) =>
      done(error === null && stdout.trim() === "openhook"),
    );
    child.stdin?.on("error", () => {});
    child.stdin?.end();
  });
}
