import type { Segment } from "./session.ts";

// One thread reads a session and another one stores it, so these types have only plain values, and numbers in buffers that can
// be transferred without a copy.

/** Sums over the model calls of one quarter of an hour, by model and by whether a subagent made them. `null`: unknown. */
export type PackedUsage = readonly [
  timeMs: number,
  model: string | null,
  subagent: 0 | 1,
  calls: number,
  aggregateRecords: number,
  withoutUsage: number,
  unpriced: number,
  incomplete: number,
  input: number | null,
  output: number | null,
  cacheRead: number | null,
  cacheWrite: number | null,
  cacheWrite5m: number | null,
  cacheWrite1h: number | null,
  reasoning: number | null,
  costNanoUsd: number | null,
  durationMs: number,
];

/** Sums over the calls of one tool in one quarter of an hour. */
export type PackedTools = readonly [
  timeMs: number,
  name: string,
  mcpServer: string | null,
  subagent: 0 | 1,
  calls: number,
  errors: number,
  denied: number,
  unfinished: number,
  durationMs: number,
];

/** Turns of one quarter of an hour, by origin. */
export type PackedTurns = readonly [timeMs: number, origin: string, turns: number, failed: number, interrupted: number];

/** Numbers of a call that may have a price: index in `usage`, `segments` and `providers`, five kinds of tokens, end. */
export const CALL_NUMBERS = 9;

/** A finished session, stored as one value. */
export interface Packed {
  /** Its facts, encoded by `encodeTables`. Earlier versions used `encodeFacts`. */
  readonly facts: string | Uint8Array;
  /** Digests (`digestOf`) of the records that this session owns and whose id is unique over all sessions. */
  readonly owned: Float64Array;
  readonly segments: readonly { readonly segment: Segment; readonly totals: string }[];
  readonly usage: readonly PackedUsage[];
  readonly tools: readonly PackedTools[];
  readonly turns: readonly PackedTurns[];
}

/** Sums are stored per quarter of an hour, because the days of every time zone consist of whole quarters. */
export const QUARTER_MS = 15 * 60_000;

/** A 48-bit digest of a record's id. Different digests mean different records. If digests are equal, the ids are compared. */
export const digestOf = (source: string, globalKey: string): number => digester(source)(globalKey);

/** `digestOf` for many ids of one source. */
export function digester(source: string): (globalKey: string) => number {
  // Two multiplicative hashes, each over the UTF-16 units of the text
  let sourceHigh = 0x9e3779b9;
  let sourceLow = 0x85ebca6b;
  for (let i = 0; i < source.length; i++) {
    const unit = source.charCodeAt(i);
    sourceHigh = Math.imul(sourceHigh ^ unit, 0x9e3779b1);
    sourceLow = Math.imul(sourceLow ^ unit, 0x5f356495);
  }
  sourceHigh ^= SEPARATOR;
  return (globalKey) => {
    let high = sourceHigh;
    let low = sourceLow;
    for (let i = 0; i < globalKey.length; i++) {
      const unit = globalKey.charCodeAt(i);
      high = Math.imul(high ^ unit, 0x9e3779b1);
      low = Math.imul(low ^ unit, 0x5f356495);
    }
    high ^= SEPARATOR;
    high = Math.imul(high ^ (high >>> 16), 0x85ebca77) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae3d);
    low = Math.imul(low ^ (low >>> 16), 0x85ebca77) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae3d);
    return (high >>> 16) * 0x1_0000_0000 + (low >>> 0);
  };
}

// --- internal ---

const SEPARATOR = 0xff51;
