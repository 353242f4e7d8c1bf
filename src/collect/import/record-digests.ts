import type { TranscriptEntry } from "#core/model/transcript.ts";
import { commonKey } from "#core/rules/answer-keys.ts";
import { digestOf } from "#kit/digest.ts";

/** Digests of the entries whose id is unique over all sessions. */
export const recordDigests = (source: string, entries: readonly TranscriptEntry[]): Float64Array =>
  Float64Array.from(
    entries.flatMap(({ globalKey }) => (globalKey === undefined ? [] : keysFor(globalKey))),
    (key) => digestOf(source, key),
  );

/** The keys under which a record can be found: its own, and the one that all records of its answer share. */
export function keysFor(globalKey: string): readonly string[] {
  const common = commonKey(globalKey);
  return common === undefined ? [globalKey] : [globalKey, common];
}
