// biome-ignore-all lint/a11y/useSemanticElements: only visible rows are in the document, which a table cannot express
// biome-ignore-all lint/a11y/useFocusableInteractive: the treegrid has the focus and names its active row
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { duration, offset, plural } from "../format.ts";
import { makeAxis, moved, placeOf, ticksOf, timeAt, WHOLE, type Window, zoomed } from "./axis.ts";
import { type Key, keyOf } from "./keys.ts";
import { Legend } from "./legend.tsx";
import { Minimap } from "./minimap.tsx";
import { Row } from "./row.tsx";
import { Lines, Scale } from "./scale.tsx";
import type { Spans } from "./spans.ts";
import { Toolbar } from "./toolbar.tsx";
import { useArea } from "./use-area.ts";
import { nextError, rowOf, visibleRows } from "./visible.ts";

interface Props {
  readonly spans: Spans;
  /** Id of the span with open details. */
  readonly chosen: string | undefined;
  readonly onChoose: (id: string) => void;
  readonly onClose: () => void;
}

/**
 * A tree of spans with bars on one time axis, as a treegrid. Only visible rows are in the document, however many there are; the active one
 * always is, so that screen readers never lose it.
 */
export function Waterfall({ spans, chosen, onChoose, onClose }: Props) {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const [search, setSearch] = useState("");
  const [errorsOnly, setErrorsOnly] = useState(false);
  const [shorten, setShorten] = useState(true);
  const [frame, setFrame] = useState<Window>(WHOLE);
  const [activeId, setActiveId] = useState<string | undefined>(undefined);
  const area = useArea();

  const axis = useMemo(() => makeAxis(spans, shorten), [spans, shorten]);
  const visible = useMemo(
    () => visibleRows(spans, { collapsed, search, errorsOnly }),
    [spans, collapsed, search, errorsOnly],
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
    // Open details follow
    if (chosen !== undefined) onChoose(spans.idOf(span));
  };
  const goToSpan = (span: number): void => {
    if (span >= 0) goTo(rowOf(visible, spans, span));
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
      activeSpan < 0 ? 0.5 : placeOf(axis, ((spans.startMs[activeSpan] ?? 0) + (spans.endMs[activeSpan] ?? 0)) / 2);
    const inView = middle >= frame.from && middle <= frame.to ? middle : (frame.from + frame.to) / 2;
    setFrame(zoomed(axis, frame, at ?? inView, factor));
  };
  const zoomTo = (span: number): void => {
    const [from, to] = [placeOf(axis, spans.startMs[span] ?? 0), placeOf(axis, spans.endMs[span] ?? 0)];
    setFrame(zoomed(axis, { from, to: Math.max(to, from + 1e-9) }, (from + to) / 2, 1.2));
  };

  /** Zooms to the visible rows; parents of other spans reach far beyond them. */
  const fit = (): void => {
    const [from, to] = area.inView(rows.length);
    const inner = rows.subarray(from, to).filter((span) => spans.size[span] === 1);
    if (inner.length === 0) return;
    const startMs = inner.reduce((ms, span) => Math.min(ms, spans.startMs[span] ?? ms), Number.POSITIVE_INFINITY);
    const endMs = inner.reduce((ms, span) => Math.max(ms, spans.endMs[span] ?? ms), 0);
    const [first, last] = [placeOf(axis, startMs), placeOf(axis, endMs)];
    setFrame(zoomed(axis, { from: first, to: Math.max(last, first + 1e-9) }, (first + last) / 2, 1.05));
  };

  const hasInner = (spans.size[activeSpan] ?? 1) > 1;
  const actions: Readonly<Record<Key, () => void>> = {
    down: () => goTo(active + 1),
    up: () => goTo(active - 1),
    "page-down": () => goTo(active + area.pageRows()),
    "page-up": () => goTo(active - area.pageRows()),
    first: () => goTo(0),
    last: () => goTo(rows.length - 1),
    open() {
      if (!hasInner) return;
      if (isOpen(activeSpan)) goTo(active + 1);
      else setOpen(activeSpan, true);
    },
    close() {
      if (hasInner && isOpen(activeSpan) && visible.hits === undefined) setOpen(activeSpan, false);
      else goToSpan(spans.parent[activeSpan] ?? -1);
    },
    choose: () => (chosen === spans.idOf(activeSpan) ? onClose() : onChoose(spans.idOf(activeSpan))),
    leave: onClose,
    "next-error": () => goToSpan(nextError(spans, activeSpan, 1)),
    "previous-error": () => goToSpan(nextError(spans, activeSpan, -1)),
    "zoom-in": () => zoom(1 / ZOOM_STEP),
    "zoom-out": () => zoom(ZOOM_STEP),
    "zoom-rows": fit,
    "zoom-all": () => setFrame(WHOLE),
    "zoom-span": () => zoomTo(activeSpan),
    "pan-left": () => setFrame(moved(frame, -(frame.to - frame.from) / 4)),
    "pan-right": () => setFrame(moved(frame, (frame.to - frame.from) / 4)),
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const key = keyOf(event);
    if (key === undefined || rows.length === 0) return;
    event.preventDefault();
    actions[key]();
  };

  // Wheel events must be cancelled so that the page does not zoom, which passive handlers cannot
  const onWheel = useRef<(event: WheelEvent) => void>(() => {});
  onWheel.current = (event) => {
    const bars = area.bars();
    if (bars === undefined) return;
    const isZoom = event.ctrlKey || event.metaKey || event.altKey;
    const by = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
    if (!isZoom && Math.abs(by) <= (event.shiftKey ? 0 : Math.abs(event.deltaY))) return;
    event.preventDefault();
    const width = frame.to - frame.from;
    const share = Math.min(1, Math.max(0, (event.clientX - bars.left) / bars.width));
    if (isZoom) setFrame(zoomed(axis, frame, frame.from + width * share, Math.exp(event.deltaY * WHEEL_SPEED)));
    else setFrame(moved(frame, (by / bars.width) * width));
  };
  useEffect(() => {
    const element = area.ref.current;
    const listen = (event: WheelEvent): void => onWheel.current(event);
    element?.addEventListener("wheel", listen, { passive: false });
    return () => element?.removeEventListener("wheel", listen);
  }, []);

  // After the rows have changed, the active one stays visible
  useEffect(() => {
    if (activeId !== undefined) area.reveal(active);
  }, [visible]);

  const [first, last] = area.range(rows.length);
  const shownRows = Array.from({ length: last - first }, (_, n) => first + n);
  if (rows.length > 0 && (active < first || active >= last)) shownRows.push(active);
  const ticks = ticksOf(axis, frame, Math.max(2, Math.floor(area.barsWidth / TICK_PX)));
  const bands = axis.pauses.map(
    ([from, to]) => [inFrame(frame, placeOf(axis, from)), inFrame(frame, placeOf(axis, to))] as const,
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
        canShorten={shorten ? axis.pauses.length > 0 : makeAxis(spans, true).pauses.length > 0}
        shorten={shorten}
        onShorten={setShorten}
        isZoomed={frame.from > 0 || frame.to < 1}
        onZoom={zoom}
        onFit={fit}
        onWhole={() => setFrame(WHOLE)}
      />
      <Minimap spans={spans} axis={axis} frame={frame} onFrame={setFrame} />
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
          <span role="columnheader" class="c-number c-tokens">
            Tokens
          </span>
          <span role="columnheader" class="c-number c-cost">
            Cost
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
                isChosen={spans.idOf(span) === chosen}
                isHit={visible.hits?.[span] === 1}
                left={inFrame(frame, placeOf(axis, spans.startMs[span] ?? 0))}
                right={inFrame(frame, placeOf(axis, spans.endMs[span] ?? 0))}
                onToggle={() => setOpen(span, !isOpen(span))}
                onChoose={() => {
                  setActiveId(spans.idOf(span));
                  onChoose(spans.idOf(span));
                }}
              />
            );
          })}
        </div>
        {rows.length === 0 ? <p class="no-rows">No span fits. Clear the search to see all of them.</p> : null}
      </div>
      <div class="frame muted">
        <Legend />
        <p aria-live="off">
          {frame.from > 0 || frame.to < 1 ? spanOfTime(timeAt(axis, frame.from), timeAt(axis, frame.to)) : ""}
        </p>
      </div>
    </section>
  );
}

// --- internal ---

const ZOOM_STEP = 1.6;
/** One notch of a wheel, about 100 px, is one step; a pinch sends small ones. */
const WHEEL_SPEED = 0.005;
/** Space for a label of the scale. */
const TICK_PX = 90;

/** A position on the axis as a share of the visible part; outside it below 0 or above 1. */
const inFrame = ({ from, to }: Window, place: number): number => (place - from) / (to - from);

/** All spans with children except sessions: shows the turns, and failures outside of turns stay hidden. */
function turnsOf(spans: Spans): ReadonlySet<string> {
  const ids = new Set<string>();
  for (let i = 0; i < spans.count; i++) {
    if ((spans.size[i] ?? 1) > 1 && spans.kindOf(i) !== "session") ids.add(spans.idOf(i));
  }
  return ids;
}

const spanOfTime = (fromMs: number, toMs: number): string =>
  `In view: ${duration(toMs - fromMs)}, from ${offset(fromMs, toMs - fromMs)} on`;
