import type { Packed } from "../model/packed.ts";
import type { SessionFacts } from "../model/session.ts";
import type { Totals } from "../telemetry/totals.ts";

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
