import { spawn } from "node:child_process";
import { constants } from "node:os";
import { type Context, UserError } from "../context.ts";
import { drainDeps } from "../drain/from-process.ts";
import { DrainLog } from "../drain/log.ts";
import { messageOf } from "../model/error-message.ts";
import { renewCopy } from "../registration/renew-copy.ts";
import { withGivenUmask } from "../umask.ts";
import { drainNow } from "./drain.ts";

/**
 * `openhook-otel run -- <program> …`: runs an agent, then drains before it returns. For jobs and containers that end with their
 * first process: the drains that hooks start would end with it.
 *
 * @param command the program and its arguments; it gets this terminal
 * @returns the program's exit code, 128 and the signal's number if a signal ended it. A failed drain does not change it
 * @throws UserError if the program cannot be started, with the exit codes of shells: 127 not found, 126 not executable
 */
export async function run([program = "", ...args]: readonly string[], context: Context): Promise<number> {
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

/** Signals to pass on to the agent. Not SIGINT: a terminal sends it to both. */
const FORWARDED = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const;

function exitCodeOf(program: string, args: readonly string[], { env, cwd }: Context): Promise<number> {
  return new Promise((done, failed) => {
    const child = withGivenUmask(() => spawn(program, args, { env, cwd, stdio: "inherit" }));
    const forward = (signal: NodeJS.Signals): boolean => child.kill(signal);
    const ignore = (): void => {};
    for (const signal of FORWARDED) process.on(signal, forward);
    process.on("SIGINT", ignore);
    const end = (): void => {
      for (const signal of FORWARDED) process.off(signal, forward);
      process.off("SIGINT", ignore);
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
