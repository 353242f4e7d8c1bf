import { MARK, SPAN_KINDS, type SpanColumns, type SpanKind } from "../../wire.ts";

/** The spans of a session as the page uses them: in tree order, by number. */
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
  readonly marks: Uint8Array;
  /** Position among its siblings, from 1, and their number. */
  readonly place: Uint32Array;
  readonly siblings: Uint32Array;
  idOf(i: number): string;
  /** -1: none. */
  indexOf(id: string): number;
  kindOf(i: number): SpanKind;
  labelOf(i: number): string;
  detailOf(i: number): string;
  inputOf(i: number): number | null;
  outputOf(i: number): number | null;
  costOf(i: number): number | null;
  has(i: number, mark: keyof typeof MARK): boolean;
  /** For each span whether its label, detail or kind contains the text, case-insensitively. */
  matching(text: string): Uint8Array;
}

export function readSpans(columns: SpanColumns): Spans {
  const { count, ids, words } = columns;
  const startMs = Float64Array.from(columns.startMs);
  const endMs = Float64Array.from(columns.durationMs, (ms, i) => ms + (startMs[i] ?? 0));
  // A running span ends at the latest known time
  const lastMs = endMs.reduce((max, ms) => Math.max(max, ms), 0);
  for (let i = 0; i < count; i++) if (((columns.marks[i] ?? 0) & MARK.open) !== 0) endMs[i] = lastMs;
  const depth = Uint16Array.from(columns.depth);
  const marks = Uint8Array.from(columns.marks);
  const { parent, size, place, siblings } = treeOf(depth);
  let numbers: Map<string, number> | undefined;
  const idOf = (i: number): string => ids.slice(i * ID, (i + 1) * ID);
  const kindOf = (i: number): SpanKind => SPAN_KINDS[columns.kind[i] ?? -1] ?? "other";
  const wordAt = (column: readonly number[], i: number): string => words[column[i] ?? -1] ?? "";
  return {
    count,
    baseMs: columns.baseMs,
    startMs,
    endMs,
    depth,
    parent,
    size,
    marks,
    place,
    siblings,
    idOf,
    indexOf(id) {
      numbers ??= new Map(Array.from({ length: count }, (_, i) => [idOf(i), i]));
      return numbers.get(id) ?? -1;
    },
    kindOf,
    labelOf: (i) => wordAt(columns.label, i),
    detailOf: (i) => wordAt(columns.detail, i),
    inputOf: (i) => columns.input[i] ?? null,
    outputOf: (i) => columns.output[i] ?? null,
    costOf: (i) => columns.costNanoUsd[i] ?? null,
    has: (i, mark) => ((marks[i] ?? 0) & MARK[mark]) !== 0,
    matching(text) {
      const wanted = text.toLowerCase();
      const hits = words.map((word) => word.toLowerCase().includes(wanted));
      const kinds = SPAN_KINDS.map((kind) => kind.replace("_", " ").includes(wanted));
      return Uint8Array.from({ length: count }, (_, i) =>
        hits[columns.label[i] ?? -1] === true ||
        hits[columns.detail[i] ?? -1] === true ||
        kinds[columns.kind[i] ?? -1] === true
          ? 1
          : 0,
      );
    },
  };
}

/** Tokens and cost of a span and everything below it, each model call once. */
export interface Below {
  readonly calls: number;
  readonly tools: number;
  readonly input: number | null;
  readonly output: number | null;
  readonly costNanoUsd: number | null;
  readonly leastTokens: boolean;
  readonly leastCost: boolean;
}

/** Sums over the model calls below a span: a turn's span itself excludes its subagents. */
export function sumBelow(spans: Spans, from: number): Below {
  let [calls, tools, input, output, cost, told, priced, least] = [0, 0, 0, 0, 0, 0, 0, false];
  for (let i = from; i < from + (spans.size[from] ?? 1); i++) {
    const kind = spans.kindOf(i);
    if (kind === "tool_call") tools++;
    if (kind !== "model_call") continue;
    calls++;
    const [own, out, money] = [spans.inputOf(i), spans.outputOf(i), spans.costOf(i)];
    if (own !== null || out !== null) told++;
    if (money !== null) priced++;
    input += own ?? 0;
    output += out ?? 0;
    cost += money ?? 0;
    least ||= spans.has(i, "leastOutput");
  }
  return {
    calls,
    tools,
    input: told === 0 ? null : input,
    output: told === 0 ? null : output,
    costNanoUsd: priced === 0 ? null : cost,
    leastTokens: told < calls,
    leastCost: priced < calls || least,
  };
}

// --- internal ---

const ID = 16;

function treeOf(depth: Uint16Array): Pick<Spans, "parent" | "size" | "place" | "siblings"> {
  const count = depth.length;
  const parent = new Int32Array(count).fill(-1);
  const size = new Uint32Array(count).fill(1);
  const place = new Uint32Array(count);
  const siblings = new Uint32Array(count);
  const children = new Uint32Array(count);
  let roots = 0;
  const above: number[] = [];
  for (let i = 0; i < count; i++) {
    const own = depth[i] ?? 0;
    above.length = own;
    const over = above[own - 1];
    if (over === undefined) place[i] = ++roots;
    else {
      parent[i] = over;
      children[over] = (children[over] ?? 0) + 1;
      place[i] = children[over] ?? 1;
    }
    above[own] = i;
  }
  for (let i = count - 1; i >= 0; i--) {
    const over = parent[i] ?? -1;
    if (over >= 0) size[over] = (size[over] ?? 1) + (size[i] ?? 1);
  }
  for (let i = 0; i < count; i++) {
    const over = parent[i] ?? -1;
    siblings[i] = over < 0 ? roots : (children[over] ?? 1);
  }
  return { parent, size, place, siblings };
}
