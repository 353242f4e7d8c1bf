import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Keeps the memory of a process small through which much data flows. Each piece that Node reads is a buffer outside of the heap; the
 * engine collects these only when it has 32 MB or more of them.
 *
 * @returns takes the bytes that were received and are needed no more
 */
export function garbageCollector(): (bytes: number) => void {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  let bytes = 0;
  return (more) => {
    bytes += more;
    if (bytes < COLLECTED_BYTES || typeof collect !== "function") return;
    bytes = 0;
    collect();
  };
}

// --- internal ---

/** A collection takes 3 ms with the small heap of the receiver. */
const COLLECTED_BYTES = 1 << 19;
