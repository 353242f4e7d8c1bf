import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import type { Context } from "#config/context.ts";
import { cardOf } from "#core/rules/cards.ts";
import type { Drain } from "../drain/context.ts";
import { type Readers, readersInThisThread, Threads } from "./readers.ts";

/** Readers of transcripts: worker threads if there is much to read, otherwise only this thread. */
export function readersFor(drain: Drain, bytes: number, context: Context): Readers {
  const here = readersInThisThread((source) => cardOf(drain, source), drain);
  const threads = bytes < MIN_BYTES_FOR_THREADS ? undefined : startThreads(drain, context);
  return threads?.readers(here) ?? here;
}

// --- internal ---

/** A thread costs 0.3 to 0.4 s of processor time. Below this, one thread reads everything in about two seconds. */
const MIN_BYTES_FOR_THREADS = 320 << 20;
/** More threads wait for each other, and each takes memory. */
const MAX_THREADS = 4;

/** `undefined` on a machine with one processor. */
function startThreads({ loaded, places }: Drain, { programPath }: Context): Threads | undefined {
  // One fewer than processors, because this thread reads too
  const count = Math.min(availableParallelism() - 1, MAX_THREADS);
  if (count < 1) return undefined;
  const settings = { redaction: loaded.config.redaction, home: places.home };
  return new Threads(join(dirname(programPath), "reader.cjs"), count, settings);
}
