import type { Spans } from "../spans.ts";
import { positionOf } from "./axis.ts";
import type { ActiveRow } from "./use-active-row.ts";
import type { Rows } from "./use-rows.ts";
import type { ScrollArea } from "./use-scroll-area.ts";
import type { TimeView } from "./use-time-view.ts";
import { nextFailed, nextMatch } from "./visible-rows.ts";

interface Parts {
  readonly spans: Spans;
  readonly rows: Rows;
  readonly time: TimeView;
  readonly active: ActiveRow;
  readonly area: ScrollArea;
  /** Id of the span with open details. */
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
  readonly onClose: () => void;
}

/** What keys and buttons do, each by one name. */
export type Actions = ReturnType<typeof makeActions>;

export function makeActions({ spans, rows, time, active, area, selected, onSelect, onClose }: Parts) {
  const { row, span, goToRow, goToSpan } = active;
  const { visible, order } = rows;
  const hasChildren = spans.hasChildren(span);
  return {
    down: () => goToRow(row + 1),
    up: () => goToRow(row - 1),
    pageDown: () => goToRow(row + area.pageRows()),
    pageUp: () => goToRow(row - area.pageRows()),
    first: () => goToRow(0),
    last: () => goToRow(visible.rows.length - 1),
    /** Opens the span, or goes to its first child. */
    open() {
      if (!hasChildren) return;
      if (rows.isOpen(span)) goToRow(row + 1);
      else rows.setOpen(span, true);
    },
    /** Closes the span, or goes to its parent. */
    close() {
      if (hasChildren && rows.isOpen(span) && visible.hits === undefined) rows.setOpen(span, false);
      else goToSpan(spans.parentOf(span));
    },
    toggleDetails: () => (selected === spans.idOf(span) ? onClose() : onSelect(spans.idOf(span))),
    closeDetails: onClose,
    nextFailed: () => goToSpan(nextFailed(spans, order, span, 1)),
    previousFailed: () => goToSpan(nextFailed(spans, order, span, -1)),
    nextMatch: () => goToSpan(nextMatch(visible, order, span, 1)),
    previousMatch: () => goToSpan(nextMatch(visible, order, span, -1)),
    zoomIn: () => time.zoom(1 / ZOOM_STEP, zoomCentre(spans, span, time)),
    zoomOut: () => time.zoom(ZOOM_STEP, zoomCentre(spans, span, time)),
    zoomToSpan: () => time.fit(spans.startOf(span), spans.endOf(span), SPAN_MARGIN),
    zoomToRows: () => zoomToRows(spans, visible.rows.subarray(...area.inView(visible.rows.length)), time),
    zoomToAll: time.showAll,
    moveLeft: () => time.move(-1 / 4),
    moveRight: () => time.move(1 / 4),
  } satisfies Readonly<Record<string, () => void>>;
}

/** What a key does in the waterfall; `undefined`: the browser handles it. */
export function actionOf({ key, shiftKey, ctrlKey, metaKey, altKey }: KeyboardEvent): keyof Actions | undefined {
  if (ctrlKey || metaKey || altKey) return undefined;
  if (shiftKey && key === "ArrowLeft") return "moveLeft";
  if (shiftKey && key === "ArrowRight") return "moveRight";
  return KEYS.get(key);
}

/** Keys and what they do, for the help in the toolbar. */
export const KEY_HELP: readonly (readonly [string, string])[] = [
  ["↑ ↓", "move row by row; Home, End, Page Up and Page Down in larger steps"],
  ["← →", "collapse and expand, or go to the parent or first child"],
  ["Enter", "show or hide details; Escape hides them"],
  ["n, N", "go to the next or previous failed span"],
  ["+ −", "zoom in and out; z fits the span, f the visible rows, 0 the session"],
  ["Shift ← →", "move the view along the time axis"],
  ["Ctrl + wheel", "zoom at the pointer; Shift + wheel moves the view"],
];

// --- internal ---

const ZOOM_STEP = 1.6;
const SPAN_MARGIN = 1.2;
const ROWS_MARGIN = 1.05;

/** The middle of a span if it is visible, otherwise the middle of the viewport. */
function zoomCentre(spans: Spans, span: number, { axis, viewport: { from, to } }: TimeView): number {
  const middle = span < 0 ? 0.5 : positionOf(axis, (spans.startOf(span) + spans.endOf(span)) / 2);
  return middle >= from && middle <= to ? middle : (from + to) / 2;
}

/** Zooms to the time of rows. Only leaves count, because their parents can last much longer. */
function zoomToRows(spans: Spans, inView: Int32Array, time: TimeView): void {
  const leaves = inView.filter((span) => !spans.hasChildren(span));
  if (leaves.length === 0) return;
  const fromMs = leaves.reduce((ms, span) => Math.min(ms, spans.startOf(span)), Number.POSITIVE_INFINITY);
  const toMs = leaves.reduce((ms, span) => Math.max(ms, spans.endOf(span)), 0);
  time.fit(fromMs, toMs, ROWS_MARGIN);
}

const KEYS: ReadonlyMap<string, keyof Actions> = new Map([
  ["ArrowDown", "down"],
  ["ArrowUp", "up"],
  ["PageDown", "pageDown"],
  ["PageUp", "pageUp"],
  ["Home", "first"],
  ["End", "last"],
  ["ArrowRight", "open"],
  ["ArrowLeft", "close"],
  ["Enter", "toggleDetails"],
  [" ", "toggleDetails"],
  ["Escape", "closeDetails"],
  ["n", "nextFailed"],
  ["N", "previousFailed"],
  ["+", "zoomIn"],
  ["=", "zoomIn"],
  ["-", "zoomOut"],
  ["0", "zoomToAll"],
  ["z", "zoomToSpan"],
  ["f", "zoomToRows"],
]);
