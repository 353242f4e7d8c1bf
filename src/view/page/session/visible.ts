import { FLAG } from "../../wire.ts";
import type { Spans } from "./spans.ts";

export interface RowFilter {
  /** Ids of spans whose children are hidden. */
  readonly collapsed: ReadonlySet<string>;
  readonly search: string;
  readonly errorsOnly: boolean;
}

export interface Visible {
  /** Indexes of the spans with a row, in order. */
  readonly rows: Int32Array;
  /** Search results; absent without a search. */
  readonly hits?: Uint8Array;
  readonly hitCount: number;
}

/** The rows. Without a search: all spans that are not below a collapsed one. With a search: matches and their ancestors, also collapsed ones. */
export function visibleRows(spans: Spans, { collapsed, search, errorsOnly }: RowFilter): Visible {
  const hits = search === "" && !errorsOnly ? undefined : hitsOf(spans, search, errorsOnly);
  const rows = new Int32Array(spans.count);
  let length = 0;
  if (hits === undefined) {
    const closed = new Set([...collapsed].map((id) => spans.indexOf(id)));
    for (let i = 0; i < spans.count; i += closed.has(i) ? (spans.size[i] ?? 1) : 1) rows[length++] = i;
    return { rows: rows.subarray(0, length), hitCount: 0 };
  }
  const kept = new Uint8Array(spans.count);
  let hitCount = 0;
  for (let i = 0; i < spans.count; i++) {
    if (hits[i] !== 1) continue;
    hitCount++;
    for (let at = i; at >= 0 && kept[at] !== 1; at = spans.parent[at] ?? -1) kept[at] = 1;
  }
  for (let i = 0; i < spans.count; i++) if (kept[i] === 1) rows[length++] = i;
  return { rows: rows.subarray(0, length), hits, hitCount };
}

/** The row of a span or of its closest ancestor that has a row; -1: none. */
export function rowOf({ rows }: Visible, spans: Spans, span: number): number {
  for (let at = span; at >= 0; at = spans.parent[at] ?? -1) {
    const row = positionIn(rows, at);
    if (row >= 0) return row;
  }
  return -1;
}

/** @returns index of the next or previous failed span, wrapping around; -1: none */
export function nextError(spans: Spans, from: number, step: 1 | -1): number {
  for (let n = 1; n <= spans.count; n++) {
    const i = (from + step * n + spans.count * 2) % spans.count;
    if (((spans.flags[i] ?? 0) & FAILED) !== 0) return i;
  }
  return -1;
}

// --- internal ---

const FAILED = FLAG.error | FLAG.denied;

function hitsOf(spans: Spans, search: string, errorsOnly: boolean): Uint8Array {
  const hits = search === "" ? new Uint8Array(spans.count).fill(1) : spans.matching(search);
  if (errorsOnly) for (let i = 0; i < spans.count; i++) if (((spans.flags[i] ?? 0) & FAILED) === 0) hits[i] = 0;
  return hits;
}

function positionIn(rows: Int32Array, span: number): number {
  let [low, high] = [0, rows.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const value = rows[middle] ?? 0;
    if (value === span) return middle;
    if (value < span) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
