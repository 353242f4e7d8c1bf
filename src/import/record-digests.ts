import { digestOf } from "../model/packed.ts";
import type { TranscriptEntry } from "../model/transcript.ts";

/** Digests of the entries whose id is unique over sessions. */
export function recordDigests(source: string, entries: readonly TranscriptEntry[]): Float64Array {
  const digests = new Float64Array(entries.length);
  let length = 0;
  for (const { globalKey } of entries) {
    if (globalKey !== undefined) digests[length++] = digestOf(source, globalKey);
  }
  return digests.slice(0, length);
}
