import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { constants } from "node:os";
import { ciJob } from "#collect/drain/ci-job.ts";
import { DrainLog } from "#collect/drain/log.ts";
import { PIPELINE_VARIABLE } from "#collect/intake/inbox-file.ts";
import type { Context } from "#config/context.ts";
import { messageOf, UserError } from "#kit/errors.ts";
import { withGivenUmask } from "#kit/umask.ts";
import { renewCopy } from "#setup/registration/renew-copy.ts";
import { drainNow } from "./drain.ts";
import { drainDeps } from "./drain-deps.ts";

/**
 * `openhook-otel run -- <program> …`: runs an agent, then drains before it returns. For jobs and containers that end with their
 * first process: the drains that hooks start would end with it. Spans name the CI job.
 *
 * @param command the program and its arguments; it gets this terminal
 * @returns the program's exit code, 128 and the signal's number if a signal ended it. A failed drain does not change it
 * @throws UserError if the program cannot be started, with the exit codes of shells: 127 not found, 126 not executable
 */
export async function run([program = "", ...args]: readonly string[], given: Context): Promise<number> {
  const context = withCiJob(given);
  const code = await exitCodeOf(program, args, context);
  const log = new DrainLog(context);
  try {
    await renewCopy(context);
    const deps = await drainDeps(context, log.line);
    const report = await drainNow(deps, { endIdle: false, quiet: false });
    for (const problem of report?.problems ?? []) context.stderr.write(`openhook-otel: ${problem}\n`);
  } catch (error) {
    log.line(messageOf(error));
    context.stderr.write(`openhook-otel: ${messageOf(error)}\n`);
  }
  await log.flush();
  return code;
}

// --- internal ---

/** Names the CI job in the environment of the agent, and thus of its hooks, and of this process's drain. */
function withCiJob(context: Context): Context {
  const job = ciJob(context.env);
  return Object.keys(job).length === 0
    ? context
    : { ...context, env: { ...context.env, [PIPELINE_VARIABLE]: JSON.stringify(job) } };
}

/** Signals to pass on to the agent. */
const FORWARDED = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const;

/** A terminal sends SIGINT to the agent too; CI systems and container runtimes send it only to this process. */
function hasTerminal(): boolean {
  if (process.platform === "win32") return true;
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}

function exitCodeOf(program: string, args: readonly string[], { env, cwd }: Context): Promise<number> {
  return new Promise((done, failed) => {
    const child = withGivenUmask(() => spawn(program, args, { env, cwd, stdio: "inherit" }));
    const forward = (signal: NodeJS.Signals): boolean => child.kill(signal);
    const onInterrupt = hasTerminal() ? () => {} : forward;
    for (const signal of FORWARDED) process.on(signal, forward);
    process.on("SIGINT", onInterrupt);
    const end = (): void => {
      for (const signal of FORWARDED) process.off(signal, forward);
      process.off("SIGINT", onInterrupt);
    };
    child.on("error", (error) => {
      end();
      const isMissing = "code" in error && error.code === "ENOENT";
      failed(
        new UserError("E_RUN", `cannot start ${JSON.stringify(program)}: ${error.message}`, isMissing ? 127 : 126),
      );
    });
    child.on("exit", (code, signal) => {
      end();
      done(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
