import { termsOf } from "../../../match.ts";
import { type SearchDocument, SPAN_ID_LENGTH, SPAN_KINDS } from "../../../wire/spans.ts";
import type { Spans } from "../spans.ts";

interface RowFilter {
  /** Ids of spans whose children are hidden. */
  readonly collapsed: ReadonlySet<string>;
  /** Search results; absent without a search. */
  readonly found?: Uint8Array | undefined;
  readonly errorsOnly: boolean;
  /** The order of the rows: each span is followed by its descendants. */
  readonly order: Int32Array;
}

export interface VisibleRows {
  /** Indexes of the spans with a row, in order. */
  readonly rows: Int32Array;
  /** The row of each span; -1: it has none. */
  readonly rowOfSpan: Int32Array;
  /** Matches of the search and the error filter; absent without both. */
  readonly hits?: Uint8Array;
  readonly hitCount: number;
}

/** The rows. Without a search: all spans that are not below a collapsed one. With a search: matches and their ancestors, also collapsed ones. */
export function visibleRows(spans: Spans, { collapsed, found, errorsOnly, order }: RowFilter): VisibleRows {
  if (found === undefined && !errorsOnly) {
    return { ...numbered(spans, openSpans(spans, collapsed, order)), hitCount: 0 };
  }
  const hits = hitsOf(spans, found, errorsOnly);
  const kept = withAncestors(spans, hits);
  const rows = order.filter((span) => kept[span] === 1);
  return { ...numbered(spans, rows), hits, hitCount: hits.reduce((count, hit) => count + hit, 0) };
}

/** The row of a span or of its closest ancestor that has a row; -1: none. */
export function rowOf({ rowOfSpan }: VisibleRows, spans: Spans, span: number): number {
  for (let at = span; at >= 0; at = spans.parentOf(at)) {
    const row = rowOfSpan[at] ?? -1;
    if (row >= 0) return row;
  }
  return -1;
}

/** @returns index of the next or previous failed span in the order of rows, wrapping around; -1: none */
export const nextFailed = (spans: Spans, order: Int32Array, from: number, step: 1 | -1): number =>
  nextWhere(order, from, step, spans.isFailed);

/** @returns index of the next or previous match of a search, wrapping around; -1: none */
export const nextMatch = ({ hits }: VisibleRows, order: Int32Array, from: number, step: 1 | -1): number =>
  nextWhere(order, from, step, (span) => hits?.[span] === 1);

export function failedCount(spans: Spans): number {
  let count = 0;
  for (let i = 0; i < spans.count; i++) if (spans.isFailed(i)) count++;
  return count;
}

export type Order = "time" | "cost" | "duration";

/**
 * The spans in tree order, siblings by time or with the most expensive or longest first; after each span its descendants follow.
 */
export function orderOf(spans: Spans, by: Order): Int32Array {
  if (by === "time") return Int32Array.from({ length: spans.count }, (_, i) => i);
  const size = Float64Array.from({ length: spans.count }, (_, i) =>
    by === "cost" ? (spans.costOf(i) ?? -1) : spans.durationOf(i),
  );
  const order = new Int32Array(spans.count);
  const stack: number[] = [];
  /** Puts siblings on the stack, so that the largest is taken first; among equals the earliest. */
  const push = (from: number, to: number): void => {
    const siblings: number[] = [];
    for (let i = from; i < to; i += spans.size[i] ?? 1) siblings.push(i);
    siblings.sort((a, b) => (size[a] ?? 0) - (size[b] ?? 0) || b - a);
    for (const sibling of siblings) stack.push(sibling);
  };
  push(0, spans.count);
  let length = 0;
  for (let i = stack.pop(); i !== undefined; i = stack.pop()) {
    order[length++] = i;
    push(i + 1, i + (spans.size[i] ?? 1));
  }
  return order;
}

/** Matches in the attributes, which the server searches; one set of ids per term. */
export type AttributeMatches = ReadonlyMap<string, ReadonlySet<number>>;

/** The server's response as indexes of spans. */
export const readMatches = ({ terms }: SearchDocument, spans: Spans): AttributeMatches =>
  new Map(
    terms.map(({ term, ids }) => {
      const found = new Set<number>();
      for (let at = 0; at < ids.length; at += SPAN_ID_LENGTH) {
        found.add(spans.indexOf(ids.slice(at, at + SPAN_ID_LENGTH)));
      }
      return [term, found];
    }),
  );

/**
 * For each span whether it matches every term of a search: by its state (`error`, `failed`, `denied`, `unfinished`, `running`), its label,
 * its detail, its kind or its attributes.
 */
export function findSpans(spans: Spans, search: string, attributes: AttributeMatches): Uint8Array {
  const hits = new Uint8Array(spans.count).fill(1);
  for (const term of termsOf(search)) {
    const isState = STATES[term];
    const texts = spans.strings.map((text) => text.toLowerCase().includes(term));
    const kinds = SPAN_KINDS.map((kind) => kind.replace("_", " ").includes(term));
    const others = attributes.get(term);
    for (let i = 0; i < spans.count; i++) {
      if (hits[i] === 0) continue;
      const isHit =
        isState?.(spans, i) === true ||
        spans.hasText(i, texts) ||
        kinds[SPAN_KINDS.indexOf(spans.kindOf(i))] === true ||
        others?.has(i) === true;
      if (!isHit) hits[i] = 0;
    }
  }
  return hits;
}

// --- internal ---

/** Spans in the order of their rows, and the row of each. */
function numbered(spans: Spans, rows: Int32Array): Pick<VisibleRows, "rows" | "rowOfSpan"> {
  const rowOfSpan = new Int32Array(spans.count).fill(-1);
  rows.forEach((span, row) => {
    rowOfSpan[span] = row;
  });
  return { rows, rowOfSpan };
}

/** The spans in order, without those below a collapsed one. */
function openSpans(spans: Spans, collapsed: ReadonlySet<string>, order: Int32Array): Int32Array {
  const open = new Int32Array(spans.count);
  let length = 0;
  for (let at = 0; at < spans.count; ) {
    const span = order[at] ?? 0;
    open[length++] = span;
    // The descendants of a span follow it
    at += spans.hasChildren(span) && collapsed.has(spans.idOf(span)) ? (spans.size[span] ?? 1) : 1;
  }
  return open.subarray(0, length);
}

/** 1 for the matches and everything above them. */
function withAncestors(spans: Spans, hits: Uint8Array): Uint8Array {
  const kept = new Uint8Array(spans.count);
  for (let i = 0; i < spans.count; i++) {
    if (hits[i] === 1) for (let at = i; at >= 0 && kept[at] !== 1; at = spans.parentOf(at)) kept[at] = 1;
  }
  return kept;
}

function nextWhere(order: Int32Array, from: number, step: 1 | -1, matches: (span: number) => boolean): number {
  const { length } = order;
  const here = order.indexOf(from);
  for (let n = 1; n <= length; n++) {
    const span = order[(here + step * n + length * 2) % length] ?? -1;
    if (matches(span)) return span;
  }
  return -1;
}

function hitsOf(spans: Spans, found: Uint8Array | undefined, errorsOnly: boolean): Uint8Array {
  const hits = found === undefined ? new Uint8Array(spans.count).fill(1) : Uint8Array.from(found);
  if (errorsOnly) for (let i = 0; i < spans.count; i++) if (!spans.isFailed(i)) hits[i] = 0;
  return hits;
}

const isFailed = (spans: Spans, i: number): boolean => spans.isFailed(i);

const STATES: Readonly<Record<string, (spans: Spans, i: number) => boolean>> = {
  error: isFailed,
  errors: isFailed,
  failed: isFailed,
  failure: isFailed,
  failures: isFailed,
  denied: (spans, i) => spans.has(i, "denied"),
  unfinished: (spans, i) => spans.has(i, "unfinished"),
  running: (spans, i) => spans.has(i, "open"),
  open: (spans, i) => spans.has(i, "open"),
};
