import { useEffect, useRef, useState } from "preact/hooks";
import { type Axis, FULL_VIEW, moved, type Viewport } from "./axis.ts";
import { drawMinimap } from "./draw-minimap.ts";
import type { Spans } from "./spans.ts";

interface Props {
  readonly spans: Spans;
  readonly axis: Axis;
  readonly viewport: Viewport;
  readonly onViewport: (viewport: Viewport) => void;
}

/**
 * The whole session in a strip: cost over time, tools and failures. Dragging zooms to that part, dragging the viewport moves it, a
 * double click shows the whole session. The waterfall's keys do the same, so the strip is hidden from screen readers.
 */
export function Minimap({ spans, axis, viewport, onViewport }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [drawing, setDrawing] = useState({ width: 0, scheme: 0 });
  const drag = useRef<{ readonly from: number; readonly viewport: Viewport; readonly isMove: boolean } | undefined>(
    undefined,
  );

  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const measure = (): void => setDrawing((before) => ({ ...before, width: element.clientWidth }));
    const recolour = (): void => setDrawing((before) => ({ ...before, scheme: before.scheme + 1 }));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", recolour);
    return () => {
      observer.disconnect();
      dark.removeEventListener("change", recolour);
    };
  }, []);

  useEffect(() => {
    if (canvas.current !== null && drawing.width > 0) drawMinimap(canvas.current, spans, axis);
  }, [spans, axis, drawing]);

  const positionAt = (event: PointerEvent): number => {
    const box = canvas.current?.getBoundingClientRect();
    return box === undefined || box.width === 0 ? 0 : Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  const isZoomed = viewport.from > 0 || viewport.to < 1;
  return (
    <div
      class="minimap"
      aria-hidden="true"
      title="Cost over time; below it the tools; red: something failed. Drag to zoom"
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        const at = positionAt(event);
        drag.current = { from: at, viewport, isMove: isZoomed && at >= viewport.from && at <= viewport.to };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        const start = drag.current;
        if (start === undefined) return;
        const at = positionAt(event);
        if (start.isMove) onViewport(moved(start.viewport, at - start.from));
        else if (Math.abs(at - start.from) > MIN_DRAG) {
          onViewport({ from: Math.min(at, start.from), to: Math.max(at, start.from) });
        }
      }}
      onPointerUp={() => {
        drag.current = undefined;
      }}
      onPointerCancel={() => {
        drag.current = undefined;
      }}
      onDblClick={() => onViewport(FULL_VIEW)}
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

/** A shorter drag is a click; a share of the width. */
const MIN_DRAG = 0.004;
