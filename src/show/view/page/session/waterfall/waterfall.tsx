import { duration, offset } from "../../text/format.ts";
import type { Spans } from "../spans.ts";
import { makeActions } from "./actions.ts";
import { timeAt } from "./axis.ts";
import { Grid } from "./grid.tsx";
import { Legend } from "./legend.tsx";
import { Minimap } from "./minimap.tsx";
import { Toolbar } from "./toolbar.tsx";
import { useActiveRow } from "./use-active-row.ts";
import { useRows } from "./use-rows.ts";
import { useScrollArea } from "./use-scroll-area.ts";
import { type TimeView, useTimeView } from "./use-time-view.ts";
import { useWheel } from "./use-wheel.ts";

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

/** The spans of a session: a toolbar, the whole session in a strip, and below it a tree with bars on one time axis. */
export function Waterfall({ source, id, spans, selected, onSelect, onClose }: Props) {
  const area = useScrollArea();
  const rows = useRows(source, id, spans);
  const time = useTimeView(spans);
  const active = useActiveRow({ spans, rows, area, selected, onSelect });
  const actions = makeActions({ spans, rows, time, active, area, selected, onSelect, onClose });
  useWheel(area, time);
  return (
    <section class="waterfall" aria-label="Waterfall">
      <Toolbar spans={spans} rows={rows} time={time} actions={actions} />
      <Minimap spans={spans} time={time} />
      <Grid
        spans={spans}
        rows={rows}
        time={time}
        active={active}
        area={area}
        actions={actions}
        selected={selected}
        onSelect={onSelect}
      />
      <div class="grid-footer muted">
        <Legend />
        <p aria-live="off">{time.isZoomed ? viewportText(time) : ""}</p>
      </div>
    </section>
  );
}

// --- internal ---

function viewportText({ axis, viewport }: TimeView): string {
  const [fromMs, toMs] = [timeAt(axis, viewport.from), timeAt(axis, viewport.to)];
  return `In view: ${duration(toMs - fromMs)}, starting at ${offset(fromMs, toMs - fromMs)}`;
}
