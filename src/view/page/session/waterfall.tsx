// biome-ignore-all lint/a11y/useSemanticElements: only visible rows are in the document, which a table cannot express
// biome-ignore-all lint/a11y/useFocusableInteractive: the treegrid has the focus and names its active row
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { duration, offset, plural } from "../format.ts";
import { FULL_VIEW, makeAxis, moved, positionOf, ticksOf, timeAt, type Viewport, zoomed } from "./axis.ts";
import { type Key, keyOf } from "./keys.ts";
import { Legend } from "./legend.tsx";
import { Minimap } from "./minimap.tsx";
import { type Order, orderOf } from "./order.ts";
import { Row } from "./row.tsx";
import { Lines, Scale } from "./scale.tsx";
import type { Spans } from "./spans.ts";
import { Toolbar } from "./toolbar.tsx";
import { useArea } from "./use-area.ts";
import { useSearch } from "./use-search.ts";
import { nextError, nextHit, rowOf, visibleRows } from "./visible.ts";

interface Props {
  readonly source: string;
  /** Id of the session. */
  readonly id: string;
  readonly spans: Spans;
  /** Id of the span with open details. */
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
  readonly onClose: () => void;
}

/**
 * A tree of spans with bars on one time axis, as a treegrid. The document contains only the visible rows, and always the active one, so that
 * screen readers do not lose it.
 */
export function Waterfall({ source, id, spans, selected, onSelect, onClose }: Props) {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(() => collapsedAtFirst(spans));
  const [by, setBy] = useState<Order>("time");
  const [search, setSearch] = useState("");
  const [errorsOnly, setErrorsOnly] = useState(false);
  const [shorten, setShorten] = useState(true);
  const [viewport, setViewport] = useState<Viewport>(FULL_VIEW);
  const [activeId, setActiveId] = useState<string | undefined>(undefined);
  const area = useArea();

  const axis = useMemo(() => makeAxis(spans, shorten), [spans, shorten]);
  const order = useMemo(() => orderOf(spans, by), [spans, by]);
  const found = useSearch(source, id, spans, search);
  const visible = useMemo(
    () => visibleRows(spans, { collapsed, found, errorsOnly, order }),
    [spans, collapsed, found, errorsOnly, order],
  );
  const { rows } = visible;
  const active = activeId === undefined ? 0 : Math.max(0, rowOf(visible, spans, spans.indexOf(activeId)));
  const activeSpan = rows[active] ?? -1;

  const goTo = (row: number): void => {
    const at = Math.min(rows.length - 1, Math.max(0, row));
    const span = rows[at];
    if (span === undefined) return;
    setActiveId(spans.idOf(span));
    area.reveal(at);
    // Open details show the active span
    if (selected !== undefined) onSelect(spans.idOf(span));
  };
  /** Goes to a span, and expands collapsed spans that hide it. */
  const goToSpan = (span: number): void => {
    if (span < 0) return;
    const row = visible.hits === undefined ? (visible.rowOfSpan[span] ?? -1) : rowOf(visible, spans, span);
    if (row >= 0) {
      goTo(row);
      return;
    }
    setCollapsed(openedTo(spans, collapsed, span));
    setActiveId(spans.idOf(span));
    if (selected !== undefined) onSelect(spans.idOf(span));
  };
  const setOpen = (span: number, open: boolean): void => {
    const next = new Set(collapsed);
    if (open) next.delete(spans.idOf(span));
    else next.add(spans.idOf(span));
    setCollapsed(next);
  };
  const isOpen = (span: number): boolean => visible.hits !== undefined || !collapsed.has(spans.idOf(span));
  const zoom = (factor: number, at?: number): void => {
    const middle =
      activeSpan < 0 ? 0.5 : positionOf(axis, ((spans.startMs[activeSpan] ?? 0) + (spans.endMs[activeSpan] ?? 0)) / 2);
    const zoomCentre = middle >= viewport.from && middle <= viewport.to ? middle : (viewport.from + viewport.to) / 2;
    setViewport(zoomed(axis, viewport, at ?? zoomCentre, factor));
  };
  const zoomTo = (span: number): void => {
    const [from, to] = [positionOf(axis, spans.startMs[span] ?? 0), positionOf(axis, spans.endMs[span] ?? 0)];
    setViewport(zoomed(axis, { from, to: Math.max(to, from + 1e-9) }, (from + to) / 2, 1.2));
  };

  /** Zooms to the visible rows. Only leaves count, because their parents can last much longer. */
  const fit = (): void => {
    const [from, to] = area.inView(rows.length);
    const leaves = rows.subarray(from, to).filter((span) => spans.size[span] === 1);
    if (leaves.length === 0) return;
    const startMs = leaves.reduce((ms, span) => Math.min(ms, spans.startMs[span] ?? ms), Number.POSITIVE_INFINITY);
    const endMs = leaves.reduce((ms, span) => Math.max(ms, spans.endMs[span] ?? ms), 0);
    const [first, last] = [positionOf(axis, startMs), positionOf(axis, endMs)];
    setViewport(zoomed(axis, { from: first, to: Math.max(last, first + 1e-9) }, (first + last) / 2, 1.05));
  };

  const hasChildren = (spans.size[activeSpan] ?? 1) > 1;
  const actions: Readonly<Record<Key, () => void>> = {
    down: () => goTo(active + 1),
    up: () => goTo(active - 1),
    "page-down": () => goTo(active + area.pageRows()),
    "page-up": () => goTo(active - area.pageRows()),
    first: () => goTo(0),
    last: () => goTo(rows.length - 1),
    open() {
      if (!hasChildren) return;
      if (isOpen(activeSpan)) goTo(active + 1);
      else setOpen(activeSpan, true);
    },
    close() {
      if (hasChildren && isOpen(activeSpan) && visible.hits === undefined) setOpen(activeSpan, false);
      else goToSpan(spans.parent[activeSpan] ?? -1);
    },
    "toggle-details": () => (selected === spans.idOf(activeSpan) ? onClose() : onSelect(spans.idOf(activeSpan))),
    "close-details": onClose,
    "next-error": () => goToSpan(nextError(spans, order, activeSpan, 1)),
    "previous-error": () => goToSpan(nextError(spans, order, activeSpan, -1)),
    "zoom-in": () => zoom(1 / ZOOM_STEP),
    "zoom-out": () => zoom(ZOOM_STEP),
    "zoom-rows": fit,
    "zoom-all": () => setViewport(FULL_VIEW),
    "zoom-span": () => zoomTo(activeSpan),
    "pan-left": () => setViewport(moved(viewport, -(viewport.to - viewport.from) / 4)),
    "pan-right": () => setViewport(moved(viewport, (viewport.to - viewport.from) / 4)),
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const key = keyOf(event);
    if (key === undefined || rows.length === 0) return;
    event.preventDefault();
    actions[key]();
  };

  // Not passive, because it must cancel wheel events to keep the browser from zooming
  const onWheel = useRef<(event: WheelEvent) => void>(() => {});
  onWheel.current = (event) => {
    const bars = area.bars();
    if (bars === undefined) return;
    const isZoom = event.ctrlKey || event.metaKey || event.altKey;
    const by = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
    if (!isZoom && Math.abs(by) <= (event.shiftKey ? 0 : Math.abs(event.deltaY))) return;
    event.preventDefault();
    const width = viewport.to - viewport.from;
    const share = Math.min(1, Math.max(0, (event.clientX - bars.left) / bars.width));
    if (isZoom)
      setViewport(zoomed(axis, viewport, viewport.from + width * share, Math.exp(event.deltaY * WHEEL_SPEED)));
    else setViewport(moved(viewport, (by / bars.width) * width));
  };
  useEffect(() => {
    const element = area.ref.current;
    const listen = (event: WheelEvent): void => onWheel.current(event);
    element?.addEventListener("wheel", listen, { passive: false });
    return () => element?.removeEventListener("wheel", listen);
  }, []);

  // The address or the explanation names a span
  useEffect(() => {
    if (selected !== undefined && selected !== activeId) goToSpan(spans.indexOf(selected));
  }, [selected]);

  // Keep the active row visible after the rows have changed
  useEffect(() => {
    if (activeId !== undefined) area.reveal(active);
  }, [visible]);

  const [first, last] = area.range(rows.length);
  const shownRows = Array.from({ length: last - first }, (_, n) => first + n);
  if (rows.length > 0 && (active < first || active >= last)) shownRows.push(active);
  const ticks = ticksOf(axis, viewport, Math.max(2, Math.floor(area.barsWidth / TICK_PX)));
  const bands = axis.pauses.map(
    ([from, to]) => [toViewport(viewport, positionOf(axis, from)), toViewport(viewport, positionOf(axis, to))] as const,
  );

  return (
    <section class="waterfall" aria-label="Waterfall">
      <Toolbar
        spans={spans}
        visible={visible}
        search={search}
        onSearch={setSearch}
        errorsOnly={errorsOnly}
        onErrorsOnly={setErrorsOnly}
        onExpand={() => setCollapsed(new Set())}
        onCollapse={() => setCollapsed(turnsOf(spans))}
        by={by}
        onOrder={setBy}
        onError={(step) => goToSpan(nextError(spans, order, activeSpan, step))}
        onHit={(step) => goToSpan(nextHit(visible, order, activeSpan, step))}
        canShorten={shorten ? axis.pauses.length > 0 : makeAxis(spans, true).pauses.length > 0}
        shorten={shorten}
        onShorten={setShorten}
        isZoomed={viewport.from > 0 || viewport.to < 1}
        onZoom={zoom}
        onFit={fit}
        onWhole={() => setViewport(FULL_VIEW)}
      />
      <Minimap spans={spans} axis={axis} viewport={viewport} onViewport={setViewport} />
      <div
        id="waterfall"
        class="grid"
        ref={area.ref}
        role="treegrid"
        aria-label={`Spans, ${plural(rows.length, "row")}`}
        aria-rowcount={rows.length + 1}
        aria-colcount={5}
        aria-activedescendant={rows.length === 0 ? undefined : `row-${active}`}
        tabIndex={0}
        style={{ "--rows": rows.length }}
        onKeyDown={onKeyDown}
        onScroll={area.onScroll}
      >
        <div class="head-row" role="row" aria-rowindex={1}>
          <span role="columnheader" class="c-name">
            Span
          </span>
          <span role="columnheader" class="c-bar" ref={area.barsRef}>
            <span class="sr">Time</span>
            <Scale ticks={ticks} bands={bands} />
          </span>
          <span role="columnheader" class="c-number">
            Duration
          </span>
          <span role="columnheader" class="c-number c-cost">
            Cost
          </span>
          <span role="columnheader" class="c-number c-tokens">
            Tokens
          </span>
        </div>
        <div class="rows" role="rowgroup" style={{ height: `${rows.length * area.rowPx}px` }}>
          <Lines ticks={ticks} bands={bands} />
          {shownRows.map((row) => {
            const span = rows[row] ?? 0;
            return (
              <Row
                key={row}
                row={row}
                top={row * area.rowPx}
                spans={spans}
                span={span}
                open={isOpen(span)}
                isActive={row === active}
                isSelected={spans.idOf(span) === selected}
                isHit={visible.hits?.[span] === 1}
                left={toViewport(viewport, positionOf(axis, spans.startMs[span] ?? 0))}
                right={toViewport(viewport, positionOf(axis, spans.endMs[span] ?? 0))}
                onToggle={() => setOpen(span, !isOpen(span))}
                onSelect={() => {
                  setActiveId(spans.idOf(span));
                  onSelect(spans.idOf(span));
                }}
              />
            );
          })}
        </div>
        {rows.length === 0 ? <p class="no-rows">No span matches. Clear the search to see all spans.</p> : null}
      </div>
      <div class="grid-footer muted">
        <Legend />
        <p aria-live="off">
          {viewport.from > 0 || viewport.to < 1
            ? viewportText(timeAt(axis, viewport.from), timeAt(axis, viewport.to))
            : ""}
        </p>
      </div>
    </section>
  );
}

// --- internal ---

/** With more spans the turns are closed at first. */
const MAX_OPEN_SPANS = 300;

/** Running turns stay open, because they are what the user watches. */
function collapsedAtFirst(spans: Spans): ReadonlySet<string> {
  if (spans.count <= MAX_OPEN_SPANS) return new Set();
  const ids = new Set(turnsOf(spans));
  for (let i = 0; i < spans.count; i++) if (spans.has(i, "open")) ids.delete(spans.idOf(i));
  return ids;
}

/** The collapsed spans without those that hide a span. */
function openedTo(spans: Spans, collapsed: ReadonlySet<string>, span: number): ReadonlySet<string> {
  const next = new Set(collapsed);
  for (let at = spans.parent[span] ?? -1; at >= 0; at = spans.parent[at] ?? -1) next.delete(spans.idOf(at));
  return next;
}

const ZOOM_STEP = 1.6;
/** One notch of a wheel, about 100 px, is one zoom step; a pinch sends smaller ones. */
const WHEEL_SPEED = 0.005;
/** Minimum distance of two ticks, so that their labels fit. */
const TICK_PX = 90;

/** A position on the axis as a share of the viewport: below 0 or above 1 if outside. */
const toViewport = ({ from, to }: Viewport, position: number): number => (position - from) / (to - from);

/** All spans with children except sessions: collapsing them leaves the turns. */
function turnsOf(spans: Spans): ReadonlySet<string> {
  const ids = new Set<string>();
  for (let i = 0; i < spans.count; i++) {
    if ((spans.size[i] ?? 1) > 1 && spans.kindOf(i) !== "session") ids.add(spans.idOf(i));
  }
  return ids;
}

const viewportText = (fromMs: number, toMs: number): string =>
  `In view: ${duration(toMs - fromMs)}, starting at ${offset(fromMs, toMs - fromMs)}`;
