import type { Packed } from "#core/model/packed.ts";
import type { SessionFacts } from "#core/model/session.ts";
import type { Totals } from "#core/telemetry/totals.ts";

/** What packing a session needs besides its facts. */
export interface PackOptions {
  readonly facts: SessionFacts;
  /** Its agent writes tokens into transcripts. */
  readonly expectsTranscript: boolean;
  /** Sums reported by the agent. */
  readonly reported: Totals["reported"];
  /** Times of its commits and changes, ascending: sums are divided there, so that each has its own part of them. */
  readonly boundaries: readonly number[];
}

/** A packed session without prices: the price table is loaded in the main thread only. */
export interface Unpriced extends Omit<Packed, "segments"> {
  readonly segments: readonly { readonly segment: Packed["segments"][number]["segment"]; readonly totals: Totals }[];
  /** Calls that may have a price, `CALL_NUMBERS` numbers each; -1: unknown. */
  readonly calls: Float64Array;
  /** Providers and service tiers that calls refer to; `null`: the agent's own, the standard one. */
  readonly sellers: readonly (readonly [provider: string | null, tier: string | null])[];
}
