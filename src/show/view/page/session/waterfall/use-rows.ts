import { useEffect, useMemo, useState } from "preact/hooks";
import { MAX_OPEN_SPANS } from "../../../wire/spans.ts";
import { fetchOnce } from "../../data/api.ts";
import type { Spans } from "../spans.ts";
import {
  type AttributeMatches,
  findSpans,
  type Order,
  orderOf,
  readMatches,
  type VisibleRows,
  visibleRows,
} from "./visible-rows.ts";

/** The rows of the waterfall: what the user has collapsed, searched and sorted, and which spans are visible therefore. */
export interface Rows {
  readonly visible: VisibleRows;
  /** All spans as sorted, also those without a row. */
  readonly order: Int32Array;
  readonly sortedBy: Order;
  readonly sortBy: (by: Order) => void;
  readonly search: string;
  readonly searchFor: (text: string) => void;
  readonly errorsOnly: boolean;
  readonly showErrorsOnly: (only: boolean) => void;
  isOpen(span: number): boolean;
  setOpen(span: number, open: boolean): void;
  /** Expands the collapsed spans that hide a span. */
  expandTo(span: number): void;
  readonly expandAll: () => void;
  readonly collapseTurns: () => void;
}

export function useRows(source: string, id: string, spans: Spans): Rows {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(() => collapsedAtFirst(spans));
  const [sortedBy, sortBy] = useState<Order>("time");
  const [search, searchFor] = useState("");
  const [errorsOnly, showErrorsOnly] = useState(false);

  const order = useMemo(() => orderOf(spans, sortedBy), [spans, sortedBy]);
  const found = useSearch(source, id, spans, search);
  const visible = useMemo(
    () => visibleRows(spans, { collapsed, found, errorsOnly, order }),
    [spans, collapsed, found, errorsOnly, order],
  );
  return {
    visible,
    order,
    sortedBy,
    sortBy,
    search,
    searchFor,
    errorsOnly,
    showErrorsOnly,
    isOpen: (span) => visible.hits !== undefined || !collapsed.has(spans.idOf(span)),
    setOpen(span, open) {
      const ids = new Set(collapsed);
      if (open) ids.delete(spans.idOf(span));
      else ids.add(spans.idOf(span));
      setCollapsed(ids);
    },
    expandTo(span) {
      const ids = new Set(collapsed);
      for (let at = spans.parentOf(span); at >= 0; at = spans.parentOf(at)) ids.delete(spans.idOf(at));
      setCollapsed(ids);
    },
    expandAll: () => setCollapsed(new Set()),
    collapseTurns: () => setCollapsed(parentsBelowSessions(spans)),
  };
}

// --- internal ---

/** What is collapsed when the session is opened. Running turns stay open, because they are what the user watches. */
function collapsedAtFirst(spans: Spans): ReadonlySet<string> {
  if (spans.count <= MAX_OPEN_SPANS) return new Set();
  const ids = new Set(parentsBelowSessions(spans));
  for (let i = 0; i < spans.count; i++) if (spans.has(i, "open")) ids.delete(spans.idOf(i));
  return ids;
}

/** Ids of all spans with children except sessions: collapsing them leaves the turns. */
function parentsBelowSessions(spans: Spans): ReadonlySet<string> {
  const ids = new Set<string>();
  for (let i = 0; i < spans.count; i++) {
    if (spans.hasChildren(i) && spans.kindOf(i) !== "session") ids.add(spans.idOf(i));
  }
  return ids;
}

/**
 * The matches of a search: those that the page knows immediately, those in attributes as soon as the server has searched them.
 *
 * @returns `undefined` without a search
 */
function useSearch(source: string, id: string, spans: Spans, search: string): Uint8Array | undefined {
  const [matches, setMatches] = useState<AttributeMatches>(NONE);
  useEffect(() => {
    if (search === "") return setMatches(NONE);
    const control = new AbortController();
    const timer = setTimeout(() => {
      void fetchOnce("search", { source, id, text: search }, control.signal).then((fetched) => {
        if (fetched?.data !== undefined) setMatches(readMatches(fetched.data, spans));
      });
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [source, id, spans, search]);
  return useMemo(() => (search === "" ? undefined : findSpans(spans, search, matches)), [spans, search, matches]);
}

const NONE: AttributeMatches = new Map();
const DEBOUNCE_MS = 200;
