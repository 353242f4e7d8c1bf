import type { Readable } from "node:stream";
import type { Places } from "./config/places.ts";
import type { Output } from "./safe-output.ts";

/** The process as commands see it. Only `program.ts` makes one from the real process. */
export interface Context {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  /** `process.arch`. */
  readonly arch: string;
  readonly places: Places;
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  readonly stdout: Output;
  readonly stderr: Output;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Absolute paths of the Node binary and the built program, which start a detached drain. */
  readonly nodePath: string;
  readonly programPath: string;
}

/** An error that the user can fix. Shown as one line; `exitCode` is 2 for wrong input, 1 for a failure. */
export class UserError extends Error {
  readonly code: string;
  readonly exitCode: number;
  constructor(code: string, message: string, exitCode = 2, options?: ErrorOptions) {
    super(message, options);
    this.name = "UserError";
    this.code = code;
    this.exitCode = exitCode;
  }
}
