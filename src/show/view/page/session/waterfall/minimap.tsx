import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { shortCount } from "#kit/text/amounts.ts";
import type { ExplanationDocument } from "../../../wire/documents.ts";
import { useColourScheme } from "../../hooks.ts";
import type { Spans } from "../spans.ts";
import { moved, type Viewport } from "./axis.ts";
import { drawMinimap } from "./draw-minimap.ts";
import type { TimeView } from "./use-time-view.ts";

interface Props {
  readonly spans: Spans;
  readonly time: TimeView;
  /** Has the size of the context. */
  readonly explanation: ExplanationDocument | undefined;
}

/**
 * The whole session in a strip: cost and size of the context over time, tools and failures. Dragging zooms to that part, dragging the viewport moves it, a
 * double click shows the whole session. The waterfall's keys do the same, so the strip is hidden from screen readers.
 */
export function Minimap({ spans, time, explanation }: Props) {
  const { axis, viewport, isZoomed } = time;
  const canvas = useRef<HTMLCanvasElement>(null);
  const drag = useDrag(canvas, time);
  const scheme = useColourScheme();
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    // Calls back at once, and whenever the size changes
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0) drawMinimap(element, spans, axis, explanation);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [spans, axis, scheme, explanation]);
  return (
    <div
      class="minimap"
      aria-hidden="true"
      title={titleOf(explanation)}
      onDblClick={time.showAll}
      onPointerDown={drag.start}
      onPointerMove={drag.move}
      onPointerUp={drag.end}
      onPointerCancel={drag.end}
    >
      <canvas ref={canvas} />
      {isZoomed ? (
        <>
          <span class="veil" style={{ left: "0", width: `${viewport.from * 100}%` }} />
          <span class="veil" style={{ left: `${viewport.to * 100}%`, right: "0" }} />
          <span
            class="view"
            style={{ left: `${viewport.from * 100}%`, width: `${(viewport.to - viewport.from) * 100}%` }}
          />
        </>
      ) : null}
    </div>
  );
}

// --- internal ---

function titleOf(explanation: ExplanationDocument | undefined): string {
  const peak = Math.max(0, ...(explanation?.context ?? []).map(({ tokens }) => tokens));
  const line =
    peak === 0 ? "" : `line: the context, up to ${shortCount(peak)} tokens; rings: not read from the cache; `;
  return `Cost over time; ${line}below: tools; red: which share of calls failed. Drag to zoom`;
}

/** A shorter drag is a click; a share of the width. */
const MIN_DRAG = 0.004;

interface Drag {
  readonly from: number;
  /** The viewport when the drag began. */
  readonly viewport: Viewport;
  readonly isMove: boolean;
}

/** What the pointer's events do. */
function useDrag(canvas: RefObject<HTMLCanvasElement | null>, { viewport, isZoomed, show }: TimeView) {
  const drag = useRef<Drag | undefined>(undefined);
  /** The position on the axis under the pointer. */
  const positionAt = ({ clientX }: PointerEvent): number => {
    const box = canvas.current?.getBoundingClientRect();
    return box === undefined || box.width === 0 ? 0 : Math.min(1, Math.max(0, (clientX - box.left) / box.width));
  };
  return {
    start(event: preact.TargetedPointerEvent<HTMLElement>) {
      if (event.button !== 0) return;
      const at = positionAt(event);
      drag.current = { from: at, viewport, isMove: isZoomed && at >= viewport.from && at <= viewport.to };
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    move(event: PointerEvent) {
      if (drag.current === undefined) return;
      const { from, viewport: before, isMove } = drag.current;
      const at = positionAt(event);
      if (isMove) show(moved(before, at - from));
      else if (Math.abs(at - from) > MIN_DRAG) show({ from: Math.min(at, from), to: Math.max(at, from) });
    },
    end() {
      drag.current = undefined;
    },
  };
}
