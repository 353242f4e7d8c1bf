import { shortModel } from "#kit/text/model-name.ts";
import { FLAG, SPAN_ID_LENGTH, SPAN_KINDS, type SpanColumns, type SpanKind } from "../../wire/spans.ts";

/** The spans of a session in tree order. A span is identified by its index. */
export interface Spans {
  readonly count: number;
  readonly baseMs: number;
  /** Relative to `baseMs`. */
  readonly startMs: Float64Array;
  readonly endMs: Float64Array;
  readonly depth: Uint16Array;
  /** -1 for roots. */
  readonly parent: Int32Array;
  /** Number of spans from this one to its last descendant, itself included. */
  readonly size: Uint32Array;
  readonly flags: Uint16Array;
  /** Position among its siblings, from 1. */
  readonly siblingPosition: Uint32Array;
  /** Number of its siblings, itself included. */
  readonly siblingCount: Uint32Array;
  /** Relative to `baseMs`, like `startMs`. */
  startOf(i: number): number;
  endOf(i: number): number;
  durationOf(i: number): number;
  /** -1: it is a root. */
  parentOf(i: number): number;
  hasChildren(i: number): boolean;
  idOf(i: number): string;
  /** -1: none. */
  indexOf(id: string): number;
  /** The first span that matches; -1: none. */
  find(matches: (i: number) => boolean): number;
  kindOf(i: number): SpanKind;
  labelOf(i: number): string;
  /** Its label as a row shows it: a model without its date, a tool without what `aboutOf` repeats. */
  titleOf(i: number): string;
  detailOf(i: number): string;
  /** What was asked in a turn, what a call did, what a subagent was given to do; empty if it is not known. */
  aboutOf(i: number): string;
  /** Figures of a span and everything inside it, `null` if unknown: the rows of one level add up to the row above. Cost in US dollars. */
  callsOf(i: number): number;
  inputOf(i: number): number | null;
  outputOf(i: number): number | null;
  costOf(i: number): number | null;
  has(i: number, flag: keyof typeof FLAG): boolean;
  /** Failed or denied. */
  isFailed(i: number): boolean;
  /** Labels and details, each once. */
  readonly strings: readonly string[];
  /** Whether its label or detail is one of the marked `strings`. */
  hasText(i: number, marked: readonly boolean[]): boolean;
}

/**
 * @param untilMs running spans last until this time. @default the latest time of any span
 * @param about by span id
 */
export function readSpans(columns: SpanColumns, untilMs = 0, about: ReadonlyMap<string, string> = new Map()): Spans {
  const { count, ids, strings } = columns;
  const startMs = Float64Array.from(columns.startMs);
  const endMs = Float64Array.from(columns.durationMs, (ms, i) => ms + (startMs[i] ?? 0));
  // A running span lasts at least until the latest known time
  const lastMs = endMs.reduce((max, ms) => Math.max(max, ms), Math.max(0, untilMs - columns.baseMs));
  for (let i = 0; i < count; i++) if (((columns.flags[i] ?? 0) & FLAG.open) !== 0) endMs[i] = lastMs;
  const depth = Uint16Array.from(columns.depth);
  const flags = Uint16Array.from(columns.flags);
  const { parent, size, siblingPosition, siblingCount } = treeOf(depth);
  let indexes: Map<string, number> | undefined;
  const idOf = (i: number): string => ids.slice(i * SPAN_ID_LENGTH, (i + 1) * SPAN_ID_LENGTH);
  const kindOf = (i: number): SpanKind => SPAN_KINDS[columns.kind[i] ?? -1] ?? "other";
  const stringAt = (column: readonly number[], i: number): string => strings[column[i] ?? -1] ?? "";
  const labelOf = (i: number): string => stringAt(columns.label, i);
  const aboutOf = (i: number): string => about.get(idOf(i)) ?? "";
  return {
    count,
    baseMs: columns.baseMs,
    startMs,
    endMs,
    depth,
    parent,
    size,
    flags,
    siblingPosition,
    siblingCount,
    startOf: (i) => startMs[i] ?? 0,
    endOf: (i) => endMs[i] ?? 0,
    durationOf: (i) => (endMs[i] ?? 0) - (startMs[i] ?? 0),
    parentOf: (i) => parent[i] ?? -1,
    hasChildren: (i) => (size[i] ?? 1) > 1,
    idOf,
    indexOf(id) {
      indexes ??= new Map(Array.from({ length: count }, (_, i) => [idOf(i), i]));
      return indexes.get(id) ?? -1;
    },
    find(matches) {
      for (let i = 0; i < count; i++) if (matches(i)) return i;
      return -1;
    },
    kindOf,
    labelOf,
    titleOf: (i) => titleOf(kindOf(i), labelOf(i), aboutOf(i)),
    detailOf: (i) => stringAt(columns.detail, i),
    aboutOf,
    callsOf: (i) => columns.calls[i] ?? 0,
    inputOf: (i) => columns.input[i] ?? null,
    outputOf: (i) => columns.output[i] ?? null,
    costOf: (i) => usdOf(columns.costNanoUsd[i] ?? null),
    has: (i, flag) => ((flags[i] ?? 0) & FLAG[flag]) !== 0,
    isFailed: (i) => ((flags[i] ?? 0) & FAILED) !== 0,
    strings,
    hasText: (i, marked) => marked[columns.label[i] ?? -1] === true || marked[columns.detail[i] ?? -1] === true,
  };
}

/** Whether a turn, subagent or tool call runs. If only the session is open, its agent waits for the user. */
export const isWorking = ({ flags, kind }: SpanColumns): boolean =>
  flags.some((bits, i) => (bits & FLAG.open) !== 0 && SPAN_KINDS[kind[i] ?? -1] !== "session");

export const KIND_NAMES = {
  session: "session",
  turn: "turn",
  subagent: "subagent",
  model_call: "model call",
  tool_call: "tool call",
  other: "span",
} as const satisfies Record<SpanKind, string>;

/** What is inside a span: its calls, and the part of its cost that is its subagents'. */
export interface Inside {
  readonly calls: number;
  readonly tools: number;
  readonly subagents: number;
  /** Of the subagents; `null`: unknown. */
  readonly subagentCostUsd: number | null;
  readonly subagentCostIsLowerBound: boolean;
}

/** Counts what is inside a span. Subagents of subagents are in their cost, and not counted again. */
export function insideOf(spans: Spans, index: number): Inside {
  let [tools, subagents, known, cost, isLowerBound] = [0, 0, 0, 0, false];
  let outermostEnd = 0;
  for (let i = index + 1; i < index + (spans.size[index] ?? 1); i++) {
    if (spans.kindOf(i) === "tool_call") tools++;
    if (spans.kindOf(i) !== "subagent") continue;
    subagents++;
    if (i < outermostEnd) continue;
    outermostEnd = i + (spans.size[i] ?? 1);
    if (spans.costOf(i) !== null) known++;
    cost += spans.costOf(i) ?? 0;
    isLowerBound ||= spans.has(i, "unknownCost") || spans.has(i, "costIsLowerBound");
  }
  return {
    calls: spans.callsOf(index),
    tools,
    subagents,
    subagentCostUsd: known === 0 ? null : cost,
    subagentCostIsLowerBound: isLowerBound,
  };
}

/** A span by its times, because an explanation does not name spans. They have times in microseconds. @returns -1: there is none */
export const spanAt = (
  spans: Spans,
  kind: SpanKind,
  { startMs, ms }: { readonly startMs: number; readonly ms: number },
): number =>
  spans.find(
    (i) =>
      spans.kindOf(i) === kind &&
      Math.abs(spans.startOf(i) + spans.baseMs - startMs) < 0.5 &&
      Math.abs(spans.durationOf(i) - ms) < 0.5,
  );

// --- internal ---

function titleOf(kind: SpanKind, label: string, about: string): string {
  if (kind === "model_call") return shortModel(label);
  const [tool = "", program = "", more] = label.split(" ");
  const isRepeated =
    kind === "tool_call" && more === undefined && program !== "" && !tool.endsWith(":") && about.includes(program);
  return isRepeated ? tool : label;
}

const usdOf = (nanoUsd: number | null): number | null => (nanoUsd === null ? null : nanoUsd / 1e9);

const FAILED = FLAG.error | FLAG.denied;

function treeOf(depth: Uint16Array): Pick<Spans, "parent" | "size" | "siblingPosition" | "siblingCount"> {
  const count = depth.length;
  const parent = new Int32Array(count).fill(-1);
  const size = new Uint32Array(count).fill(1);
  const siblingPosition = new Uint32Array(count);
  const siblingCount = new Uint32Array(count);
  const childCount = new Uint32Array(count);
  let roots = 0;
  const ancestors: number[] = [];
  for (let i = 0; i < count; i++) {
    const level = depth[i] ?? 0;
    ancestors.length = level;
    const parentIndex = ancestors[level - 1];
    if (parentIndex === undefined) siblingPosition[i] = ++roots;
    else {
      parent[i] = parentIndex;
      childCount[parentIndex] = (childCount[parentIndex] ?? 0) + 1;
      siblingPosition[i] = childCount[parentIndex] ?? 1;
    }
    ancestors[level] = i;
  }
  for (let i = count - 1; i >= 0; i--) {
    const parentIndex = parent[i] ?? -1;
    if (parentIndex >= 0) size[parentIndex] = (size[parentIndex] ?? 1) + (size[i] ?? 1);
  }
  for (let i = 0; i < count; i++) {
    const parentIndex = parent[i] ?? -1;
    siblingCount[i] = parentIndex < 0 ? roots : (childCount[parentIndex] ?? 1);
  }
  return { parent, size, siblingPosition, siblingCount };
}
