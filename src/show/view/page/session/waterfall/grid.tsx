// biome-ignore-all lint/a11y/useSemanticElements: only visible rows are in the document, which a table cannot express
// biome-ignore-all lint/a11y/useFocusableInteractive: the treegrid has the focus and names its active row
import { useMemo } from "preact/hooks";
import { offset, plural } from "../../text/format.ts";
import type { Spans } from "../spans.ts";
import type { Actions } from "./actions.ts";
import { actionOf } from "./actions.ts";
import { type Pause, type Tick, ticksOf } from "./axis.ts";
import { Row } from "./row.tsx";
import type { ActiveRow } from "./use-active-row.ts";
import type { Rows } from "./use-rows.ts";
import type { ScrollArea } from "./use-scroll-area.ts";
import type { TimeView } from "./use-time-view.ts";

interface Props {
  readonly spans: Spans;
  readonly rows: Rows;
  readonly time: TimeView;
  readonly active: ActiveRow;
  readonly area: ScrollArea;
  readonly actions: Actions;
  /** Id of the span with open details. */
  readonly selected: string | undefined;
  /** The session's folder. */
  readonly folder: string | null;
  readonly onSelect: (id: string) => void;
}

/** The tree of spans with their bars. It alone has the focus, and handles the keys of all rows. */
export function Grid({ spans, rows, time, active, area, actions, selected, folder, onSelect }: Props) {
  const { visible } = rows;
  const dearestUsd = useMemo(() => dearestTurn(spans), [spans]);
  const rowCount = visible.rows.length;
  const ticks = ticksOf(time.axis, time.viewport, Math.max(2, Math.floor(area.barsWidth / TICK_PX)));
  const pauses = pausesInView(time);
  const onKeyDown = (event: KeyboardEvent): void => {
    const action = actionOf(event);
    if (action === undefined || rowCount === 0) return;
    event.preventDefault();
    actions[action]();
  };
  return (
    <div
      id="waterfall"
      class="grid"
      ref={area.ref}
      role="treegrid"
      aria-label={`Spans, ${plural(rowCount, "row")}`}
      aria-rowcount={rowCount + 1}
      aria-colcount={5}
      aria-activedescendant={rowCount === 0 ? undefined : `row-${active.row}`}
      tabIndex={0}
      style={{ "--rows": rowCount }}
      onKeyDown={onKeyDown}
      onScroll={area.onScroll}
    >
      <HeadRow area={area} ticks={ticks} pauses={pauses} />
      <div class="rows" role="rowgroup" style={{ height: `${rowCount * area.rowPx}px` }}>
        <Lines ticks={ticks} pauses={pauses} />
        {rowsToRender(area, rowCount, active.row).map((row) => {
          const span = visible.rows[row] ?? 0;
          return (
            <Row
              key={row}
              row={row}
              topPx={row * area.rowPx}
              spans={spans}
              span={span}
              isOpen={rows.isOpen(span)}
              isActive={row === active.row}
              isSelected={spans.idOf(span) === selected}
              folder={folder}
              costShare={shareOfCost(spans, span, dearestUsd)}
              isMatch={visible.hits?.[span] === 1}
              from={time.shareOf(spans.startOf(span))}
              to={time.shareOf(spans.endOf(span))}
              onToggle={() => rows.setOpen(span, !rows.isOpen(span))}
              onSelect={() => {
                active.set(span);
                onSelect(spans.idOf(span));
              }}
            />
          );
        })}
      </div>
      {rowCount === 0 ? <p class="no-rows">No span matches. Clear the search to see all spans.</p> : null}
    </div>
  );
}

// --- internal ---

/** Cost of the most expensive turn in US dollars; 0 without a known one. */
function dearestTurn(spans: Spans): number {
  let usd = 0;
  for (let i = 0; i < spans.count; i++) if (spans.kindOf(i) === "turn") usd = Math.max(usd, spans.costOf(i) ?? 0);
  return usd;
}

function shareOfCost(spans: Spans, span: number, dearestUsd: number): number | undefined {
  const usd = spans.costOf(span);
  return spans.kindOf(span) !== "turn" || usd === null || dearestUsd === 0 ? undefined : usd / dearestUsd;
}

/** Minimum distance of two ticks, so that their labels fit. */
const TICK_PX = 90;

/** The shortened pauses that are visible, as shares of the viewport. */
const pausesInView = ({ axis, viewport: { from, to } }: TimeView): readonly Pause[] =>
  axis.pauses
    .filter((pause) => pause.to > from && pause.from < to)
    .map((pause) => ({
      ...pause,
      from: Math.max(0, (pause.from - from) / (to - from)),
      to: Math.min(1, (pause.to - from) / (to - from)),
    }));

function HeadRow({ area, ...scale }: ScaleProps & Pick<Props, "area">) {
  return (
    <div class="head-row" role="row" aria-rowindex={1}>
      <span role="columnheader" class="c-name">
        Span
      </span>
      <span role="columnheader" class="c-bar" ref={area.barsRef}>
        <span class="sr">Time</span>
        <Scale {...scale} />
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
  );
}

/** The rows in view, because a document with 100,000 would be slow, and the active one, so that screen readers do not lose it. */
function rowsToRender(area: ScrollArea, rowCount: number, activeRow: number): readonly number[] {
  const [first, end] = area.range(rowCount);
  const rows = Array.from({ length: end - first }, (_, i) => first + i);
  if (rowCount > 0 && (activeRow < first || activeRow >= end)) rows.push(activeRow);
  return rows;
}

interface ScaleProps {
  readonly ticks: readonly Tick[];
  /** Shortened pauses that are visible: start and end as shares of the viewport. */
  readonly pauses: readonly Pause[];
}

/** Times above the bars. */
function Scale({ ticks, pauses }: ScaleProps) {
  return (
    <span class="scale" aria-hidden="true">
      <Pauses pauses={pauses} />
      {ticks.map(({ at, ms, stepMs }) => (
        <span key={at} class="tick" style={{ left: `${at * 100}%` }}>
          {at > LAST_LABEL ? "" : offset(ms, stepMs)}
        </span>
      ))}
    </span>
  );
}

/** The tick lines through all rows, without labels. */
function Lines({ ticks, pauses }: ScaleProps) {
  return (
    <div class="lines" aria-hidden="true">
      <span class="c-bar">
        <Pauses pauses={pauses} />
        {ticks.map(({ at }) => (
          <span key={at} class="tick" style={{ left: `${at * 100}%` }} />
        ))}
      </span>
    </div>
  );
}

/** Further right a label would not fit. */
const LAST_LABEL = 0.93;

function Pauses({ pauses }: Pick<ScaleProps, "pauses">) {
  return (
    <>
      {pauses.map(({ startMs, from, to }) => (
        <span
          key={startMs}
          class="pause"
          title="No activity; drawn shorter than it was"
          style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }}
        />
      ))}
    </>
  );
}
