import type { Readable } from "node:stream";
import type { Output } from "#kit/safe-output.ts";
import type { Places } from "./places.ts";

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
