import type { Segment } from "./session.ts";
import type { EntryOf } from "./transcript.ts";

// One thread reads a session and another one stores it, so these types have only plain values, and numbers in buffers that can
// be transferred without a copy.

/** Sums over the model calls of one quarter of an hour, or of its part between two commits or changes, by model and by whether a subagent made them. `null`: unknown. */
export interface PackedUsage {
  readonly timeMs: number;
  readonly model: string | null;
  readonly subagent: 0 | 1;
  readonly calls: number;
  readonly aggregateRecords: number;
  readonly withoutUsage: number;
  readonly unpriced: number;
  readonly incomplete: number;
  /** In the order of `TOKEN_KINDS`. */
  readonly tokens: readonly (number | null)[];
  readonly costNanoUsd: number | null;
  readonly durationMs: number;
  /** Why calls have no price, or only a part of it: the most frequent `NoPrice`. */
  readonly noPrice: string | null;
  /** If some calls have a price and others not: end and partial cost of those without, one after the other, as JSON. */
  readonly unpricedCalls: string | null;
  /** As in `CallSums`. */
  readonly webSearches: number | null;
  readonly unpricedSearches: number | null;
  readonly feeNanoUsd: number | null;
  readonly nanoCredits: number | null;
}

/** Sums over the calls of one tool, or of one skill, in one quarter of an hour. */
export type PackedTools = readonly [
  timeMs: number,
  name: string,
  mcpServer: string | null,
  skill: string | null,
  subagent: 0 | 1,
  calls: number,
  errors: number,
  denied: number,
  unfinished: number,
  durationMs: number,
];

/** Turns of one quarter of an hour, by origin. */
export type PackedTurns = readonly [timeMs: number, origin: string, turns: number, failed: number, interrupted: number];

/**
 * Numbers of a call that may have a price: index in `usage`, `segments` and `sellers`, five kinds of tokens, end, searches,
 * `IS_SUM` and `HAS_FEES` added up, and the number of calls that it counts as.
 */
export const CALL_NUMBERS = 12;
export const IS_SUM = 1;
export const HAS_FEES = 2;

/** A finished session, stored as one value. */
export interface Packed {
  /** Its facts, encoded by `encodeTables`, or by `encodeFacts` after names were removed from them. */
  readonly facts: string | Uint8Array;
  /** Digests (`digestOf`) of the records that this session owns and whose id is unique over all sessions. */
  readonly owned: Float64Array;
  readonly segments: readonly { readonly segment: Segment; readonly totals: string }[];
  readonly usage: readonly PackedUsage[];
  readonly tools: readonly PackedTools[];
  readonly turns: readonly PackedTurns[];
  /** Its commits and changes, which are stored in tables of their own. Absent: none, or they are stored already. */
  readonly changes?: readonly (EntryOf<"commit"> | EntryOf<"change">)[];
}

/** Sums are stored per quarter of an hour, because the days of every time zone consist of whole quarters. */
export const QUARTER_MS = 15 * 60_000;
