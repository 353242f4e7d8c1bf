import { type ChildProcess, type StdioOptions, spawn, spawnSync } from "node:child_process";
import { messageOf } from "#kit/errors.ts";
import { systemProgram } from "#kit/system-program.ts";

export interface CommandRun {
  readonly command: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** One line for stdin. */
  readonly input: string;
  readonly timeoutMs: number;
  readonly platform: NodeJS.Platform;
  /** Called with what the command prints, for a limited number of bytes. @default output is discarded */
  readonly onOutput?: (text: string, isError: boolean) => void;
  /** Called with the id of the process, which is also that of its group. */
  readonly onStart?: (pid: number) => void;
}

/** `undefined`: it exited with 0; otherwise the reason why the envelope counts as not accepted. */
type CommandFailure = string | undefined;

/**
 * Runs a command in the system's shell, in its own process group and with nothing of this process but the given environment. When it
 * ends, or when its time is up, everything that is left of its group is killed.
 *
 * @throws never
 */
export function runCommand(run: CommandRun): Promise<CommandFailure> {
  return new Promise((done) => {
    let child: ChildProcess;
    let isLate = false;
    let timer: NodeJS.Timeout | undefined;
    const end = (failure: CommandFailure): void => {
      clearTimeout(timer);
      done(failure);
    };
    try {
      child = start(run);
    } catch (error) {
      return end(`it could not be started: ${messageOf(error)}`);
    }
    const lateText = `it took longer than ${run.timeoutMs} ms`;
    if (child.pid !== undefined) run.onStart?.(child.pid);
    timer = setTimeout(() => {
      isLate = true;
      killGroup(child, run);
      // A process that waits for a dead file system cannot be killed
      timer = setTimeout(() => end(lateText), UNKILLABLE_MS);
    }, run.timeoutMs);
    child.once("error", (error) => end(`it could not be started: ${messageOf(error)}`));
    child.once("exit", async (code, signal) => {
      killGroup(child, run);
      child.stdin?.destroy();
      if (run.onOutput !== undefined) await closeOutput(child);
      if (isLate) end(lateText);
      else if (code === 0) end(undefined);
      else end(code === null ? `it was ended by ${signal}` : `exit code ${code}`);
    });
    // A command need not read it
    child.stdin?.on("error", () => {});
    child.stdin?.end(`${run.input}\n`);
    if (run.onOutput !== undefined) forward(child, run.onOutput);
  });
}

// --- internal ---

const MAX_OUTPUT_BYTES = 64 * 1024;
const UNKILLABLE_MS = 2_000;
const LAST_OUTPUT_MS = 1_000;

function start({ command, folder, env, platform, onOutput }: CommandRun): ChildProcess {
  const output = onOutput === undefined ? "ignore" : "pipe";
  const stdio: StdioOptions = ["pipe", output, output];
  const options = { cwd: folder, env: { ...env }, stdio, windowsHide: true };
  if (platform === "win32") return spawn(command, { ...options, shell: systemProgram("cmd.exe", env) });
  // Its own group, so that nothing it started is left behind
  return spawn("/bin/sh", ["-c", command], { ...options, detached: true });
}

function killGroup({ pid }: ChildProcess, { platform, env }: CommandRun): void {
  if (pid === undefined) return;
  if (platform === "win32") {
    spawnSync(systemProgram("taskkill.exe", env), ["/pid", String(pid), "/T", "/F"], {
      stdio: "ignore",
      windowsHide: true,
    });
    return;
  }
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nothing is left of it
  }
}

/** Waits for the rest of the output. What left the group, e.g. with `setsid`, can hold the pipes for as long as it runs. */
async function closeOutput(child: ChildProcess): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    new Promise((done) => child.once("close", done)),
    new Promise((done) => {
      timer = setTimeout(done, LAST_OUTPUT_MS);
    }),
  ]);
  clearTimeout(timer);
  child.stdout?.destroy();
  child.stderr?.destroy();
}

function forward(child: ChildProcess, onOutput: (text: string, isError: boolean) => void): void {
  let left = MAX_OUTPUT_BYTES;
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (bytes: Buffer) => {
      // Read on, so that the command is not stopped by a full pipe
      if (left <= 0) return;
      onOutput(bytes.subarray(0, left).toString("utf8"), stream === child.stderr);
      left -= bytes.length;
      if (left <= 0) onOutput("\n… (the rest of the output is not shown)\n", stream === child.stderr);
    });
  }
}
