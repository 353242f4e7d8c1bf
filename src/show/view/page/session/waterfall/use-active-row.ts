import { useEffect, useState } from "preact/hooks";
import type { Spans } from "../spans.ts";
import type { Rows } from "./use-rows.ts";
import type { ScrollArea } from "./use-scroll-area.ts";
import { rowOf } from "./visible-rows.ts";

/** The row that keys act on. */
export interface ActiveRow {
  readonly row: number;
  /** -1: there are no rows. */
  readonly span: number;
  /** Goes to a row, or to the first or last one if there is no such row. */
  goToRow(row: number): void;
  /** Goes to a span, and expands collapsed spans that hide it. */
  goToSpan(span: number): void;
  /** Makes a span with a row active. */
  set(span: number): void;
}

interface Parts {
  readonly spans: Spans;
  readonly rows: Rows;
  readonly area: ScrollArea;
  /** Id of the span with open details. */
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
}

export function useActiveRow({ spans, rows, area, selected, onSelect }: Parts): ActiveRow {
  // An id, because the spans of a running session get other indexes
  const [activeId, setActiveId] = useState<string | undefined>(undefined);
  const { visible } = rows;
  const row = activeId === undefined ? 0 : Math.max(0, rowOf(visible, spans, spans.indexOf(activeId)));

  const set = (span: number): void => setActiveId(spans.idOf(span));
  const goTo = (span: number): void => {
    set(span);
    // Open details show the active span
    if (selected !== undefined) onSelect(spans.idOf(span));
  };
  const goToRow = (wanted: number): void => {
    const to = Math.min(visible.rows.length - 1, Math.max(0, wanted));
    const span = visible.rows[to];
    if (span === undefined) return;
    area.reveal(to);
    goTo(span);
  };
  const goToSpan = (span: number): void => {
    if (span < 0) return;
    // A search cannot be expanded: go to the closest ancestor instead
    const to = visible.hits === undefined ? (visible.rowOfSpan[span] ?? -1) : rowOf(visible, spans, span);
    if (to >= 0) goToRow(to);
    else {
      rows.expandTo(span);
      goTo(span);
    }
  };

  // The address or the explanation names a span
  useEffect(() => {
    if (selected !== undefined && selected !== activeId) goToSpan(spans.indexOf(selected));
  }, [selected]);

  // Keep the active row visible after the rows have changed
  useEffect(() => {
    if (activeId !== undefined) area.reveal(row);
  }, [visible]);

  return { row, span: visible.rows[row] ?? -1, goToRow, goToSpan, set };
}
