import type { AttributeValue, SpanRecord } from "../model/telemetry.ts";
import * as semconv from "../telemetry/semconv.ts";
import { count, dollars, duration } from "../text/figures.ts";
import { clip, lineOf, type Piece, printable, type Style, sized, type Terminal, widthOf } from "../text/terminal.ts";

/** A span to draw; `open`: its end is still to come. */
export interface ShownSpan {
  readonly record: SpanRecord;
  readonly open?: boolean;
}

/**
 * Draws spans as a tree with bars on one time axis, one line each: name, bar, duration, tokens in→out, cost.
 *
 * Children stand below their parent in order of time; a span whose parent is not among the given ones is a root. All
 * bars share one axis from the first start to the last end, so what overlaps in time overlaps to the eye; but where
 * nothing was going on for more than a quarter of it (and 10 s), pauses are drawn shorter, in proportion, and dotted. `✗` marks what failed or was
 * denied, `?` what never ended, `…` what is still running; a `?` for tokens or cost means unknown, `≥` a lower bound.
 *
 * A line never takes more than the terminal's columns: below 60 there are no bars, below 44 no tokens, then no cost and
 * no duration; names are clipped. Nothing for no spans.
 *
 * @param turnsBefore turns that were drawn before, so that numbers go on
 */
export function* waterfall(
  spans: readonly ShownSpan[],
  { columns, colour }: Terminal,
  turnsBefore = 0,
): Generator<string> {
  const nodes = inTreeOrder(spans, turnsBefore);
  const axis = axisOf(spans);
  const rows = nodes.map(toRow);
  if (rows.length === 0) return;
  const layout = layoutOf(rows, columns);
  const line = (cells: readonly (readonly Piece[])[]): string =>
    lineOf(
      cells.flatMap((cell, i) => (i === 0 ? cell : [GAP, ...cell])),
      colour,
    );
  if (layout.figures.length > 0 || layout.bar > 0) yield line(headOf(layout, axis));
  const idle = layout.bar > 0 ? idleCells(axis, layout.bar) : [];
  for (const [index, row] of rows.entries()) {
    const bar = barOf(nodes[index]?.span.record, axis, layout.bar, row.isContainer ? LINE : BLOCK, idle);
    yield line([
      labelOf(row, layout.label),
      ...(layout.bar > 0 ? [[{ text: bar, ...(row.style !== undefined && { style: row.style }) }]] : []),
      ...layout.figures.map(({ key, width }) => sized([{ text: row[key], style: "dim" }], width, "right")),
    ]);
  }
}

// --- internal ---

interface Node {
  readonly span: ShownSpan;
  /** Glyphs from the root to here. */
  readonly guide: string;
  /** The number of a turn; 0 for everything else. */
  readonly turn: number;
}

type FigureKey = "duration" | "tokens" | "cost";

interface Row {
  readonly guide: string;
  readonly mark: Piece | undefined;
  readonly name: string;
  /** What a user wants to know beside the name. */
  readonly detail: string;
  readonly style: Style | undefined;
  readonly isContainer: boolean;
  readonly duration: string;
  readonly tokens: string;
  readonly cost: string;
}

const GAP: Piece = { text: "  " };
const DETAIL = " · ";
/** Deeper guides are cut on the left: the last levels are the ones that help. */
const MAX_GUIDE = 48;

const numberAt = ({ attributes }: SpanRecord, name: string): number | undefined => {
  const value: AttributeValue | undefined = attributes[name];
  return typeof value === "number" ? value : undefined;
};
const textAt = ({ attributes }: SpanRecord, name: string): string | undefined => {
  const value: AttributeValue | undefined = attributes[name];
  return typeof value === "string" ? value : undefined;
};
const kindOf = (record: SpanRecord): string | undefined => textAt(record, semconv.OPENHOOK_SPAN_KIND);
const endOf = (record: SpanRecord): number => Math.max(record.startMs, record.endMs);

/** With one trace per turn, a turn's span has no parent but a link to its session's. */
const parentOf = ({ parentSpanId, links }: SpanRecord): string | undefined =>
  parentSpanId ?? links.find((link) => link.attributes[semconv.OPENHOOK_LINK_KIND] === "session")?.spanId;

/** Depth first, without recursion: traces can be deeper than the stack. */
function inTreeOrder(spans: readonly ShownSpan[], turnsBefore: number): readonly Node[] {
  const sorted = [...spans].sort((a, b) => a.record.startMs - b.record.startMs || endOf(b.record) - endOf(a.record));
  const owner = new Map(sorted.map((span) => [span.record.spanId, span]));
  const children = new Map<ShownSpan, ShownSpan[]>();
  const roots: ShownSpan[] = [];
  for (const span of sorted) {
    const parent = owner.get(parentOf(span.record) ?? "");
    if (parent === undefined || parent === span) roots.push(span);
    else if (children.get(parent)?.push(span) === undefined) children.set(parent, [span]);
  }
  const nodes: Node[] = [];
  const seen = new Set<ShownSpan>();
  let turns = turnsBefore;
  const visit = (root: ShownSpan): void => {
    const stack = [{ span: root, guide: "", below: "" }];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      const { span, guide, below } = next;
      if (seen.has(span)) continue;
      seen.add(span);
      const isTurn = kindOf(span.record) === "turn" && isAsked(span.record);
      nodes.push({ span, guide, turn: isTurn ? ++turns : 0 });
      const own = children.get(span) ?? [];
      for (let i = own.length - 1; i >= 0; i--) {
        const child = own[i];
        const isLast = i === own.length - 1;
        if (child !== undefined)
          stack.push({
            span: child,
            guide: shortened(`${below}${isLast ? "└─ " : "├─ "}`),
            below: shortened(`${below}${isLast ? "   " : "│  "}`),
          });
      }
    }
  };
  for (const root of roots) visit(root);
  // Spans that are each other's parents hang below no root, and are shown all the same
  for (const span of sorted) if (!seen.has(span)) visit(span);
  return nodes;
}

const isAsked = (record: SpanRecord): boolean => {
  const origin = textAt(record, semconv.OPENHOOK_TURN_ORIGIN);
  return origin === "human" || origin === "machine";
};

const shortened = (guide: string): string => (guide.length <= MAX_GUIDE ? guide : `…${guide.slice(1 - MAX_GUIDE)}`);

function toRow({ span: { record, open = false }, guide, turn }: Node): Row {
  const kind = kindOf(record);
  const status = textAt(record, semconv.OPENHOOK_TOOL_STATUS);
  const failed = record.status.code === "error";
  const mark: Piece | undefined = failed
    ? { text: "✗ ", style: "red" }
    : status === "unfinished"
      ? { text: "? ", style: "yellow" }
      : open
        ? { text: "… ", style: "cyan" }
        : undefined;
  const isContainer = kind === "session" || kind === "turn" || kind === "subagent";
  const style = failed ? "red" : kind === "model_call" ? "magenta" : kind === "tool_call" ? "cyan" : undefined;
  return {
    guide,
    mark,
    name: printable(record.name),
    detail: printable(details(record, turn, open).join(", ")),
    style,
    isContainer,
    duration: `${duration(endOf(record) - record.startMs)}${open ? "+" : ""}`,
    tokens: tokensOf(record, kind, isContainer),
    cost: costOf(record, kind, isContainer),
  };
}

function details(record: SpanRecord, turn: number, open: boolean): readonly string[] {
  const status = textAt(record, semconv.OPENHOOK_TOOL_STATUS);
  const errorType = textAt(record, semconv.ERROR_TYPE);
  const exitCode = numberAt(record, semconv.PROCESS_EXIT_CODE);
  const origin = textAt(record, semconv.OPENHOOK_TURN_ORIGIN);
  const errors = record.events.filter((event) => event.name === "openhook.model_error").length;
  const failure =
    record.status.code !== "error" ? [] : [errorType === undefined || errorType === "_OTHER" ? "error" : errorType];
  return [
    ...(kindOf(record) === "session" ? ["session"] : []),
    ...(turn > 0 ? [`turn ${turn}`] : origin === "continuation" ? ["continued"] : []),
    ...(origin === "machine" ? ["by machine"] : []),
    ...failure,
    ...(exitCode !== undefined && exitCode !== 0 ? [`exit ${exitCode}`] : []),
    ...(status === "unfinished" ? ["unfinished"] : open ? ["open"] : []),
    ...(errors > 0 ? [errors === 1 ? "1 failed request" : `${errors} failed requests`] : []),
  ];
}

function tokensOf(record: SpanRecord, kind: string | undefined, isContainer: boolean): string {
  const isSession = kind === "session";
  const input = numberAt(record, isSession ? semconv.OPENHOOK_TOTAL.input : semconv.GEN_AI_USAGE_INPUT_TOKENS);
  const output = numberAt(record, isSession ? semconv.OPENHOOK_TOTAL.output : semconv.GEN_AI_USAGE_OUTPUT_TOKENS);
  if (input === undefined && output === undefined) return isUnknown(record, kind, isContainer) ? "?" : "";
  const least = record.attributes[semconv.OPENHOOK_USAGE_INCOMPLETE] === true ? "≥" : "";
  return `${count(input)}→${least}${count(output)}`;
}

function costOf(record: SpanRecord, kind: string | undefined, isContainer: boolean): string {
  const cost = numberAt(record, semconv.OPENHOOK_COST_USD);
  if (cost === undefined) return isUnknown(record, kind, isContainer) ? "?" : "";
  const isLeast =
    record.attributes[semconv.OPENHOOK_USAGE_INCOMPLETE] === true ||
    (numberAt(record, semconv.OPENHOOK_UNPRICED_CALLS) ?? 0) > 0;
  return `${isLeast ? "≥" : ""}${dollars(cost * 1e9)}`;
}

/** A model was called, so there is a number, and nobody told us. */
const isUnknown = (record: SpanRecord, kind: string | undefined, isContainer: boolean): boolean =>
  kind === "model_call" || (isContainer && (numberAt(record, semconv.OPENHOOK_MODEL_CALLS) ?? 0) > 0);

// Layout

interface Layout {
  readonly label: number;
  /** 0: no bars. */
  readonly bar: number;
  readonly figures: readonly { readonly key: FigureKey; readonly width: number; readonly title: string }[];
}

const NO_BAR_BELOW = 60;
const MIN_BAR = 10;
/** Of what figures leave; names are clipped for it. */
const MIN_BAR_SHARE = 0.25;
const MAX_BAR = 100;
/** Which figures are left at less than so many columns; dropped from the right where even these leave no name. */
const FIGURES_FROM = { cost: 32, tokens: 44, duration: 20 } as const satisfies Record<FigureKey, number>;
const MIN_LABEL = 16;

function layoutOf(rows: readonly Row[], columns: number): Layout {
  const titles = { duration: "duration", tokens: "tokens", cost: "cost" } as const;
  const widthOfColumn = (key: FigureKey): number => rows.reduce((w, row) => Math.max(w, widthOf(row[key])), 0);
  let figures = (["duration", "tokens", "cost"] as const)
    .filter((key) => columns >= FIGURES_FROM[key])
    .map((key) => ({ key, title: titles[key], width: widthOfColumn(key) }))
    .filter(({ width }) => width > 0)
    .map((figure) => ({ ...figure, width: Math.max(figure.width, figure.title.length) }));
  const taken = (): number => figures.reduce((sum, { width }) => sum + width + GAP.text.length, 0);
  for (const key of ["tokens", "cost", "duration"] as const) {
    if (columns - taken() < MIN_LABEL) figures = figures.filter((figure) => figure.key !== key);
  }
  const left = columns - taken();
  const wanted = rows.reduce((w, row) => Math.max(w, labelWidth(row)), 0);
  const forBar = Math.min(MAX_BAR, Math.max(left - GAP.text.length - wanted, Math.floor(left * MIN_BAR_SHARE)));
  if (columns < NO_BAR_BELOW || forBar < MIN_BAR) return { label: Math.min(left, wanted), bar: 0, figures };
  return { label: Math.min(wanted, left - GAP.text.length - forBar), bar: forBar, figures };
}

const labelWidth = (row: Row): number =>
  row.guide.length +
  (row.mark?.text.length ?? 0) +
  widthOf(row.name) +
  (row.detail === "" ? 0 : DETAIL.length + widthOf(row.detail));

function labelOf(row: Row, width: number): readonly Piece[] {
  const half = Math.max(3, Math.floor(width / 2));
  const guide = row.guide.length <= half ? row.guide : `…${row.guide.slice(1 - half)}`;
  const name: Piece =
    row.style === undefined ? { text: row.name, style: "bold" } : { text: row.name, style: row.style };
  const detail: Piece[] = row.detail === "" ? [] : [{ text: `${DETAIL}${row.detail}`, style: "dim" }];
  return sized([{ text: guide, style: "dim" }, ...(row.mark === undefined ? [] : [row.mark]), name, ...detail], width);
}

function headOf({ label, bar, figures }: Layout, axis: Axis): readonly (readonly Piece[])[] {
  const end = duration(axis.endMs - axis.startMs);
  const note = "┄ idle, drawn shorter";
  const room = bar - 2 - end.length;
  const middle = axis.isShortened && room >= note.length + 4 ? note : "";
  const before = Math.floor((room - middle.length) / 2);
  const scale = `0s${" ".repeat(Math.max(0, before))}${middle}${" ".repeat(Math.max(0, room - before - middle.length))}${end}`;
  return [
    sized([{ text: "span", style: "dim" }], label),
    ...(bar > 0 ? [sized([{ text: clip(scale, bar), style: "dim" }], bar)] : []),
    ...figures.map(({ title, width }) => sized([{ text: title, style: "dim" }], width, "right")),
  ];
}

// Time axis

/** Maps time to a place between 0 and 1: straight lines between knots. */
interface Axis {
  readonly startMs: number;
  readonly endMs: number;
  readonly knots: readonly { readonly ms: number; readonly at: number }[];
  /** Pauses, in order. */
  readonly gaps: readonly (readonly [number, number])[];
  /** Pauses take less room than their time would. */
  readonly isShortened: boolean;
}

/** Pauses take this much of the axis at most: what happened is what one wants to see. */
const MAX_IDLE_SHARE = 0.25;
/** Shorter ones are no pauses but what things took. */
const MIN_IDLE_MS = 10_000;

function axisOf(spans: readonly ShownSpan[]): Axis {
  const records = spans.map(({ record }) => record);
  const startMs = records.reduce((ms, r) => Math.min(ms, r.startMs), Infinity);
  const endMs = records.reduce((ms, r) => Math.max(ms, endOf(r)), -Infinity);
  const working = records.filter((r) => kindOf(r) !== "session");
  const busy = merge((working.length > 0 ? working : records).map((r) => [r.startMs, endOf(r)]));
  const gaps: [number, number][] = [];
  let lastMs = startMs;
  for (const [from, to] of busy) {
    if (from > lastMs) gaps.push([lastMs, from]);
    lastMs = Math.max(lastMs, to);
  }
  if (endMs > lastMs) gaps.push([lastMs, endMs]);
  const idleMs = gaps.reduce((sum, [from, to]) => sum + to - from, 0);
  const busyMs = endMs - startMs - idleMs;
  const isShortened = busyMs > 0 && idleMs >= MIN_IDLE_MS && idleMs > (busyMs + idleMs) * MAX_IDLE_SHARE;
  const scale = isShortened ? (busyMs * MAX_IDLE_SHARE) / (1 - MAX_IDLE_SHARE) / idleMs : 1;
  const whole = busyMs + idleMs * scale;
  const knots = [{ ms: startMs, at: 0 }];
  let [shownMs, ms] = [0, startMs];
  for (const [from, to] of gaps) {
    shownMs += from - ms;
    knots.push({ ms: from, at: shownMs / whole });
    shownMs += (to - from) * scale;
    knots.push({ ms: to, at: shownMs / whole });
    ms = to;
  }
  knots.push({ ms: endMs, at: 1 });
  return { startMs, endMs, knots, gaps, isShortened };
}

/** Overlapping stretches become one; in order of time. */
function merge(stretches: readonly (readonly [number, number])[]): readonly (readonly [number, number])[] {
  const merged: [number, number][] = [];
  for (const [from, to] of [...stretches].sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

function placeOf({ knots }: Axis, ms: number): number {
  let [low, high] = [0, knots.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((knots[middle]?.ms ?? 0) <= ms) low = middle;
    else high = middle;
  }
  const [a, b] = [knots[low], knots[high]];
  if (a === undefined || b === undefined || b.ms <= a.ms) return a?.at ?? 0;
  return a.at + (b.at - a.at) * Math.min(1, Math.max(0, (ms - a.ms) / (b.ms - a.ms)));
}

/** Which cells of the axis lie in a pause that is drawn shorter. */
function idleCells(axis: Axis, width: number): readonly boolean[] {
  const cells = new Array<boolean>(width).fill(false);
  if (!axis.isShortened) return cells;
  for (const [from, to] of axis.gaps) {
    const first = Math.ceil(placeOf(axis, from) * width);
    const last = Math.floor(placeOf(axis, to) * width);
    for (let i = first; i < last; i++) cells[i] = true;
  }
  return cells;
}

/** Left half, right half, both. */
type Glyphs = readonly [string, string, string];
const BLOCK: Glyphs = ["▌", "▐", "█"];
const LINE: Glyphs = ["╸", "╺", "━"];

/** Half a cell is the smallest step: two calls that follow each other do not seem to overlap. */
function barOf(
  record: SpanRecord | undefined,
  axis: Axis,
  width: number,
  [left, right, both]: Glyphs,
  idle: readonly boolean[],
): string {
  if (width === 0 || record === undefined) return "";
  const halves = width * 2;
  const from = Math.min(halves - 1, Math.floor(placeOf(axis, record.startMs) * halves));
  const to = Math.min(halves, Math.max(from + 1, Math.round(placeOf(axis, endOf(record)) * halves)));
  let bar = "";
  for (let cell = 0; cell < width; cell++) {
    const hasLeft = from <= cell * 2 && cell * 2 < to;
    const hasRight = from <= cell * 2 + 1 && cell * 2 + 1 < to;
    if (hasLeft && hasRight) bar += idle[cell] === true ? "┄" : both;
    else bar += hasLeft ? left : hasRight ? right : " ";
  }
  return bar;
}
