import type { SpanRecord } from "#core/model/telemetry.ts";
import { lineOf, type Piece, sized, type Terminal } from "#kit/text/terminal.ts";
import { type Axis, axisOf, idleCells, placeOf } from "./axis.ts";
import { GAP, headOf, labelOf, layoutOf } from "./layout.ts";
import { type RowCall, rowFigures, sumPlace } from "./row-sums.ts";
import { toRow } from "./rows.ts";
import { endMsOf, guidesOf, inTreeOrder, isPrompted, type ShownSpan, spanKindOf } from "./tree.ts";

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
 * @param turnsBefore number of turns already drawn, so that numbers continue
 */
export function* waterfall(
  spans: readonly ShownSpan[],
  calls: Iterable<RowCall>,
  { columns, colour }: Terminal,
  turnsBefore = 0,
): Generator<string> {
  const nodes = inTreeOrder(spans.map((shown) => sumPlace(shown.record, shown.segment, shown)));
  const [figures, guides] = [rowFigures(nodes, calls), guidesOf(nodes)];
  const axis = axisOf(spans);
  let turns = turnsBefore;
  const rows = nodes.flatMap(({ span: { shown } }, index) => {
    const turn = spanKindOf(shown.record) === "turn" && isPrompted(shown.record) ? ++turns : 0;
    const own = figures[index];
    return own === undefined ? [] : [toRow(shown, guides[index] ?? "", turn, own)];
  });
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
    const bar = barOf(nodes[index]?.span.shown.record, axis, layout.bar, row.isContainer ? LINE : BLOCK, idle);
    yield line([
      labelOf(row, layout.label),
      ...(layout.bar > 0 ? [[{ text: bar, ...(row.style !== undefined && { style: row.style }) }]] : []),
      ...layout.figures.map(({ key, width }) => sized([{ text: row[key] }], width, "right")),
    ]);
  }
}

// --- internal ---

/** Left half, right half, both. */
type Glyphs = readonly [string, string, string];
const BLOCK: Glyphs = ["▌", "▐", "█"];
const LINE: Glyphs = ["╸", "╺", "━"];

/** The smallest step is half a cell, so that consecutive calls do not seem to overlap. */
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
