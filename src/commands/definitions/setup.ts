import type { Context } from "#config/context.ts";

/** What the definitions of commands need from the process. */
export interface CommandSetup {
  readonly context: Context;
  /** Runs a command and uses its exit code. */
  readonly done: (exitCode: Promise<number>) => Promise<void>;
  /** Contains `dist`, `demo`, `collector-config` and `dashboards`. */
  readonly packageRoot: string;
  /** The shipped hook program, absolute. */
  readonly hookSource: string;
  /** Returns a signal that Ctrl-C and other termination signals abort. */
  readonly interruption: () => AbortSignal;
}
