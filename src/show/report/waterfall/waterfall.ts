import type { JoinedNative } from "#core/model/native.ts";
import type { SpanRecord } from "#core/model/telemetry.ts";
import { lineOf, type Piece, sized, type Terminal } from "#kit/text/terminal.ts";
import { firstTokenNote, nativeNotes, waitsOf } from "../native/notes.ts";
import { NO_LINES, type SpanLines } from "../story.ts";
import { type Axis, axisOf, idleCells, placeOf } from "./axis.ts";
import { type ShownRows, shownRows } from "./fold.ts";
import { GAP, headOf, labelOf, layoutOf } from "./layout.ts";
import { type RowCall, rowFigures, sumPlace } from "./row-sums.ts";
import { toRow } from "./rows.ts";
import { endMsOf, guidesOf, inTreeOrder, isPrompted, type ShownSpan, spanKindOf } from "./tree.ts";

interface WaterfallTexts {
  /** Number of turns already drawn, so that numbers continue. @default 0 */
  readonly turnsBefore: number;
  /** What was asked and done, shown beside the names of turns, calls and subagents. @default none */
  readonly lines: SpanLines;
  /** The sessions that calls started, by the id of the call's span. @default none */
  readonly started: ReadonlyMap<string, string>;
  /** What the agent's own telemetry adds to spans, by their ids. @default nothing */
  readonly native: ReadonlyMap<string, JoinedNative>;
  /** @default all */
  readonly rowsShown: ShownRows;
}

/**
 * Draws spans as a tree with bars on one time axis, one line each: name, bar, duration, tokens in→out, cost.
 *
 * Children are below their parent, ordered by start; a span whose parent is not among the given ones is a root. All
 * bars share one axis from the first start to the last end, so spans that overlap in time overlap in the drawing.
 * Exception: if pauses take more than a quarter of the axis (and 10 s), they are drawn shorter, in proportion, and
 * dotted. `✗` marks failed or denied, `?` never ended, `…` still running; a `?` for tokens or cost means unknown, `≥` a
 * lower bound.
 *
 * Tokens and cost of a line are those of its span and everything inside it, see `rowFigures`.
 *
 * A line is never wider than the terminal: below 60 columns there are no bars, below 44 no tokens, then no cost and no
 * duration; names are clipped. No spans: no lines.
 *
 * @param calls all model calls of the spans
 */
export function* waterfall(
  spans: readonly ShownSpan[],
  calls: Iterable<RowCall>,
  { columns, colour }: Terminal,
  {
    turnsBefore = 0,
    lines = NO_LINES,
    started = new Map(),
    native = NO_NATIVE,
    rowsShown = "all",
  }: Partial<WaterfallTexts> = {},
): Generator<string> {
  const nodes = inTreeOrder(spans.map((shown) => sumPlace(shown.record, shown.segment, shown)));
  const [figures, guides] = [rowFigures(nodes, calls), guidesOf(nodes)];
  const waits = native.size === 0 ? [] : waitsOf(nodes, native);
  let turns = turnsBefore;
  const placed = nodes.map(({ span: { shown, isRoot: isSession, isRun }, ...node }) => {
    const turn = spanKindOf(shown.record) === "turn" && isPrompted(shown.record) ? ++turns : 0;
    return { ...node, span: { shown, isSession, isRun, turn } };
  });
  const rowsInside = shownRows(placed, rowsShown);
  // A turn alone is drawn as a root
  const [first = 0] = rowsInside.keys();
  const cut = typeof rowsShown === "object" ? (guides[first]?.length ?? 0) : 0;
  const visible = [...rowsInside].flatMap(([index, inside]) => {
    const [node, own] = [placed[index], figures[index]];
    if (node === undefined || own === undefined) return [];
    const { shown, turn } = node.span;
    const about = lines.get(shown.record.spanId)?.text;
    const child = started.get(shown.record.spanId);
    const joined = native.get(shown.record.spanId);
    const notes = [...nativeNotes(joined, node.span.isRun ? waits[index] : undefined), ...firstTokenNote(joined)];
    return [
      {
        shown,
        row: toRow(
          { ...shown, inside, notes, ...(child !== undefined && { started: child }) },
          (guides[index] ?? "").slice(cut),
          turn,
          own,
          about,
        ),
      },
    ];
  });
  if (visible.length === 0) return;
  const rows = visible.map(({ row }) => row);
  const axis = axisOf(rowsShown === "turns" ? spans : visible.map(({ shown }) => shown));
  const layout = layoutOf(rows, columns);
  const line = (cells: readonly (readonly Piece[])[]): string =>
    lineOf(
      cells.flatMap((cell, i) => (i === 0 ? cell : [GAP, ...cell])),
      colour,
    );
  if (layout.figures.length > 0 || layout.bar > 0) yield line(headOf(layout, axis));
  const idle = layout.bar > 0 ? idleCells(axis, layout.bar) : [];
  for (const { shown, row } of visible) {
    const bar = barOf(shown.record, axis, layout.bar, row.isContainer ? LINE : BLOCK, idle);
    yield line([
      labelOf(row, layout.label),
      ...(layout.bar > 0 ? [[{ text: bar, ...(row.style !== undefined && { style: row.style }) }]] : []),
      ...layout.figures.map(({ key, width }) => sized([{ text: row[key] }], width, "right")),
    ]);
  }
}

// --- internal ---

const NO_NATIVE: ReadonlyMap<string, JoinedNative> = new Map();

/** Left half, right half, both. */
type Glyphs = readonly [string, string, string];
const BLOCK: Glyphs = ["▌", "▐", "█"];
const LINE: Glyphs = ["╸", "╺", "━"];

/** The smallest step is half a cell, so that consecutive calls do not seem to overlap. */
function barOf(
  record: SpanRecord,
  axis: Axis,
  width: number,
  [left, right, both]: Glyphs,
  idle: readonly boolean[],
): string {
  if (width === 0) return "";
  const halves = width * 2;
  const from = Math.min(halves - 1, Math.floor(placeOf(axis, record.startMs) * halves));
  const to = Math.min(halves, Math.max(from + 1, Math.round(placeOf(axis, endMsOf(record)) * halves)));
  let bar = "";
  for (let cell = 0; cell < width; cell++) {
    const hasLeft = from <= cell * 2 && cell * 2 < to;
    const hasRight = from <= cell * 2 + 1 && cell * 2 + 1 < to;
    if (hasLeft && hasRight) bar += idle[cell] === true ? "┄" : both;
    else bar += hasLeft ? left : hasRight ? right : " ";
  }
  return bar;
}
