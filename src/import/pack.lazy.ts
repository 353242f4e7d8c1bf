import { encodeFacts } from "../model/facts.ts";
import type { Packed } from "../model/packed.ts";
import { ENDED_IDLE, type ModelCall, NOTHING_SETTLED, type Session, type SessionFacts } from "../model/session.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import { buildSession } from "../session/build.ts";
import { segmentTotals, type Totals } from "../telemetry/totals.ts";
import { recordDigests } from "./record-digests.ts";
import { sumsOf } from "./sums.ts";

/** What is the same for all facts of a session that is packed. */
export interface PackOptions {
  readonly facts: SessionFacts;
  /** Its agent writes tokens into transcripts. */
  readonly expectsTranscript: boolean;
  /** The agent's own sums. */
  readonly reported: Totals["reported"];
}

/** A packed session whose model calls have no prices yet: the table of them is in another thread. */
export interface Unpriced extends Omit<Packed, "segments"> {
  readonly segments: readonly { readonly segment: Packed["segments"][number]["segment"]; readonly totals: Totals }[];
  /** Calls that may have a price, `CALL_NUMBERS` each; -1 for what nobody told. */
  readonly calls: Float64Array;
  /** Who answered, where calls do not all have the same provider. */
  readonly providers: readonly (string | null)[];
}

/**
 * Facts of a whole session → the session as one value, built by the same functions as every other, with the sums that are
 * asked of many sessions at once.
 *
 * @param entries merged, each key once; those that tell of the session as a whole left out
 */
export function pack(entries: readonly TranscriptEntry[], options: PackOptions): Unpriced {
  const { facts, expectsTranscript, reported } = options;
  const session = buildSession({
    facts,
    events: [],
    entries,
    context: NOTHING_SETTLED,
    expectsTranscript,
    endIdle: ENDED_IDLE,
  });
  const { placeOf, ...sums } = sumsOf(session);
  return {
    facts: encodeFacts(entries),
    owned: recordDigests(facts.source, entries),
    segments: session.segments.map((segment) => ({
      segment,
      totals: segmentTotals(session, segment, () => undefined, reported),
    })),
    ...sums,
    ...callsOf(session, placeOf),
  };
}

// --- internal ---

function callsOf(
  { turns, subagents, segments }: Session,
  placeOf: ReadonlyMap<ModelCall, number>,
): Pick<Unpriced, "calls" | "providers"> {
  const providers: (string | null)[] = [];
  const ordinals = segments.map(({ ordinal }) => ordinal);
  const numbers: number[] = [];
  for (const run of [...turns, ...subagents]) {
    const segment = ordinals.indexOf(run.segment);
    for (const call of run.modelCalls) {
      const { usage, model, provider = null, endMs } = call;
      if (usage === undefined || model === undefined || call.noListPrice) continue;
      if (!providers.includes(provider)) providers.push(provider);
      numbers.push(
        placeOf.get(call) ?? 0,
        segment,
        providers.indexOf(provider),
        usage.input,
        usage.output,
        usage.cacheRead ?? -1,
        usage.cacheWrite ?? -1,
        usage.cacheWrite1h ?? -1,
        endMs,
      );
    }
  }
  return { calls: Float64Array.from(numbers), providers };
}
