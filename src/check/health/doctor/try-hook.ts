import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, parse } from "node:path";
import { parseInboxFile } from "#collect/intake/inbox-file.ts";
import type { Context } from "#config/context.ts";
import { quoted } from "#setup/registration/posix-line.ts";
import { argumentsOf, type Shell } from "./shells.ts";

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
      shell.of === "posix"
        ? `--trial=${quoted(folder)} doctor`
        : `--trial-hex=${Buffer.from(folder).toString("hex")} --source doctor`;
    return argumentsOf(shell, line.replaceAll(TRIAL_WORDS, trial)).args;
  },
  windowsVerbatimArguments: shell.isVerbatim === true,
});

// --- internal ---

/** The intake reads for at most 5 s. */
const HOOK_TIMEOUT_MS = 8000;
