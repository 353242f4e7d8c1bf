import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join, parse } from "node:path";
import { parseInboxFile } from "#collect/intake/inbox-file.ts";
import type { Context } from "#config/context.ts";
import { systemProgram } from "#kit/system-program.ts";
import { quoted } from "#setup/registration/posix-line.ts";

/** How a hook is started for a trial. */
export interface Trial {
  /** The shell, if there is one. */
  readonly shell?: string;
  readonly program: string;
  /** @param folder the state directory to use */
  args(folder: string): readonly string[];
  readonly windowsVerbatimArguments?: boolean;
}

/**
 * Sends one event through an installed hook into a separate state directory, which no drain reads.
 *
 * @returns what went wrong
 */
export async function tryHook(start: Trial, { places, env }: Context): Promise<string | undefined> {
  // Beside the agents' events; a folder for temporary files may not exist
  const near = join(places.stateDir, "doctor-");
  const folder = await mkdtemp(near).catch(() => mkdtemp(join(tmpdir(), "doctor-")));
  const by = start.shell === undefined ? "" : `in ${start.shell} `;
  try {
    const hookEnv = {
      ...env,
      HOME: env["HOME"] ?? places.home,
      // For a hook from a version without --trial
      OPENHOOK_OTEL_HOME: folder,
      OPENHOOK_OTEL_DRAIN: "off",
    };
    const problem = await new Promise<string | undefined>((done) => {
      const options = {
        env: hookEnv,
        // Not in the current folder or below, which a repository may control
        cwd: parse(folder).root,
        timeout: HOOK_TIMEOUT_MS,
        killSignal: "SIGKILL",
        windowsHide: true,
        ...(start.windowsVerbatimArguments === true && { windowsVerbatimArguments: true }),
      } as const;
      const child = execFile(start.program, [...start.args(folder)], options, (error, stdout, stderr) => {
        if (error !== null) done(`${by}it failed (${error.killed ? "timed out" : (error.code ?? error.signal)})`);
        else
          done(
            stdout === "" && stderr === ""
              ? undefined
              : `${by}it printed something, which some agents show their model`,
          );
      });
      child.stdin?.on("error", () => {});
      child.stdin?.end("{}");
    });
    if (problem !== undefined) return problem;
    const [name] = await readdir(join(folder, "inbox")).catch(() => []);
    if (name === undefined) return `${by}no event was written`;
    const file = parseInboxFile(await readFile(join(folder, "inbox", name)), 0);
    const isWhole = file.ok && file.facts.source === "doctor" && file.end === "whole";
    return isWhole ? undefined : `${by}the event that it wrote is incomplete`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Placeholder for the words of a trial, and in a line of some settings for those of an event. */
export const TRIAL_WORDS = "{trial}";

/** A registered line with `TRIAL_WORDS`, in a shell. */
export const inShell = (shell: Shell, line: string): Trial => ({
  shell: shell.title,
  program: shell.program,
  args: (folder) => {
    const trial =
      shell.lines === "posix"
        ? `--trial=${quoted(folder)} doctor`
        : `--trial-hex=${Buffer.from(folder).toString("hex")} --source doctor`;
    return argumentsOf(shell, line.replaceAll(TRIAL_WORDS, trial)).args;
  },
  windowsVerbatimArguments: shell.isVerbatim === true,
});

/** A shell in which agents run hooks. */
interface Shell {
  readonly title: string;
  readonly program: string;
  /** Before the command line. */
  readonly args: readonly string[];
  /** For lines of hook.sh. @default lines for Windows */
  readonly lines?: "posix";
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
  return { title: program, program, args: ["-c"], lines: "posix" };
}

// --- internal ---

/** The intake reads for at most 5 s. */
const HOOK_TIMEOUT_MS = 8000;

/** The arguments for `execFile`, and its option for them. */
const argumentsOf = ({ args, isVerbatim }: Shell, line: string) => ({
  args: [...args, isVerbatim === true ? `"${line}"` : line],
  windowsVerbatimArguments: isVerbatim === true,
});

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
