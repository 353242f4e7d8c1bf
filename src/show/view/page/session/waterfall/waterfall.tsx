import { useEffect, useRef } from "preact/hooks";
import type { ExplanationDocument } from "../../../wire/documents.ts";
import { duration, offset } from "../../text/format.ts";
import type { Spans } from "../spans.ts";
import { KEY_HELP, makeActions } from "./actions.ts";
import { timeAt } from "./axis.ts";
import { Grid } from "./grid.tsx";
import { Minimap } from "./minimap.tsx";
import { Toolbar } from "./toolbar.tsx";
import { useActiveRow } from "./use-active-row.ts";
import { useRows } from "./use-rows.ts";
import { type ScrollArea, useScrollArea } from "./use-scroll-area.ts";
import { type TimeView, useTimeView } from "./use-time-view.ts";

interface Props {
  readonly source: string;
  /** Id of the session. */
  readonly id: string;
  readonly spans: Spans;
  /** The session's folder. */
  readonly folder: string | null;
  /** Has the size of the context; `undefined` until it has arrived. */
  readonly explanation: ExplanationDocument | undefined;
  /** What the rows do not show, and why; empty: nothing. */
  readonly note: string;
  /** Id of the span with open details. */
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
  readonly onClose: () => void;
}

/** The spans of a session: a toolbar, the whole session in a strip, and below it a tree with bars on one time axis. */
export function Waterfall({ source, id, spans, folder, explanation, note, selected, onSelect, onClose }: Props) {
  const area = useScrollArea();
  const rows = useRows(source, id, spans);
  const time = useTimeView(spans);
  const active = useActiveRow({ spans, rows, area, selected, onSelect });
  const actions = makeActions({ spans, rows, time, active, area, selected, onSelect, onClose });
  useWheel(area, time);
  return (
    <section class="waterfall" aria-label="Waterfall">
      <Toolbar spans={spans} rows={rows} time={time} actions={actions} />
      <Minimap spans={spans} time={time} explanation={explanation} />
      <Grid
        spans={spans}
        rows={rows}
        time={time}
        active={active}
        area={area}
        actions={actions}
        selected={selected}
        folder={folder}
        onSelect={onSelect}
      />
      <div class="grid-footer muted">
        <Legend />
        {note === "" ? null : <p>{note}</p>}
        <p class="viewport" aria-live="off">
          {time.isZoomed ? viewportText(time) : ""}
        </p>
        <Keys />
      </div>
    </section>
  );
}

// --- internal ---

function viewportText({ axis, viewport }: TimeView): string {
  const [fromMs, toMs] = [timeAt(axis, viewport.from), timeAt(axis, viewport.to)];
  return `In view: ${duration(toMs - fromMs)}, starting at ${offset(fromMs, toMs - fromMs)}`;
}

/** What the keys do, above the word. */
const Keys = () => (
  <details class="keys">
    <summary>Keys</summary>
    <dl>
      {KEY_HELP.map(([keys, does]) => (
        <div key={keys}>
          <dt>{keys}</dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  </details>
);

/** Colours of the kinds of spans. */
function Legend() {
  return (
    <ul class="legend" aria-label="Colours">
      {LEGEND.map(([kind, text]) => (
        <li key={kind} class={kind}>
          <span class="dot" aria-hidden="true" />
          {text}
        </li>
      ))}
    </ul>
  );
}

const LEGEND = [
  ["turn", "turn"],
  ["model_call", "model"],
  ["tool_call", "tool"],
  ["subagent", "subagent"],
  ["failed", "✗ failed or denied"],
] as const;

/** Ctrl and the wheel zoom at the pointer; Shift and the wheel, or a sideways wheel, move in time. Otherwise the browser scrolls. */
function useWheel(area: ScrollArea, time: TimeView): void {
  // The listener is added once, but must see the current viewport
  const handle = useRef<(event: WheelEvent) => void>(() => {});
  handle.current = (event) => {
    const bars = area.bars();
    if (bars === undefined) return;
    const isZoom = event.ctrlKey || event.metaKey || event.altKey;
    const sideways = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
    if (!isZoom && Math.abs(sideways) <= (event.shiftKey ? 0 : Math.abs(event.deltaY))) return;
    event.preventDefault();
    if (isZoom) {
      const { from, to } = time.viewport;
      const share = Math.min(1, Math.max(0, (event.clientX - bars.left) / bars.width));
      time.zoom(Math.exp(event.deltaY * ZOOM_SPEED), from + (to - from) * share);
    } else time.move(sideways / bars.width);
  };
  useEffect(() => {
    const element = area.ref.current;
    const listen = (event: WheelEvent): void => handle.current(event);
    // Not passive, because it must keep the browser from zooming
    element?.addEventListener("wheel", listen, { passive: false });
    return () => element?.removeEventListener("wheel", listen);
  }, []);
}

/** One notch of a wheel, about 100 px, is one zoom step; a pinch sends smaller ones. */
const ZOOM_SPEED = 0.005;
