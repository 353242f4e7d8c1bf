import { useEffect, useRef, useState } from "preact/hooks";
import { type Axis, moved, placeOf, WHOLE, type Window } from "./axis.ts";
import type { Spans } from "./spans.ts";

interface Props {
  readonly spans: Spans;
  readonly axis: Axis;
  readonly frame: Window;
  readonly onFrame: (frame: Window) => void;
}

/**
 * The whole session in a strip, one line per row as far as they fit. Dragging zooms to that part, dragging the visible part moves it, a
 * double click shows everything. Keys do the same in the waterfall, so the strip is hidden from screen readers.
 */
export function Minimap({ spans, axis, frame, onFrame }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [look, setLook] = useState({ width: 0, scheme: 0 });
  const drag = useRef<{ readonly from: number; readonly frame: Window; readonly isMove: boolean } | undefined>(
    undefined,
  );

  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const measure = (): void => setLook((before) => ({ ...before, width: element.clientWidth }));
    const recolour = (): void => setLook((before) => ({ ...before, scheme: before.scheme + 1 }));
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
    if (canvas.current !== null && look.width > 0) draw(canvas.current, spans, axis);
  }, [spans, axis, look]);

  const placeAt = (event: PointerEvent): number => {
    const box = canvas.current?.getBoundingClientRect();
    return box === undefined || box.width === 0 ? 0 : Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  const isZoomed = frame.from > 0 || frame.to < 1;
  return (
    <div
      class="minimap"
      aria-hidden="true"
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        const at = placeAt(event);
        drag.current = { from: at, frame, isMove: isZoomed && at >= frame.from && at <= frame.to };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        const begun = drag.current;
        if (begun === undefined) return;
        const at = placeAt(event);
        if (begun.isMove) onFrame(moved(begun.frame, at - begun.from));
        else if (Math.abs(at - begun.from) > LEAST_DRAG) {
          onFrame({ from: Math.min(at, begun.from), to: Math.max(at, begun.from) });
        }
      }}
      onPointerUp={() => {
        drag.current = undefined;
      }}
      onPointerCancel={() => {
        drag.current = undefined;
      }}
      onDblClick={() => onFrame(WHOLE)}
    >
      <canvas ref={canvas} />
      {isZoomed ? (
        <>
          <span class="veil" style={{ left: "0", width: `${frame.from * 100}%` }} />
          <span class="veil" style={{ left: `${frame.to * 100}%`, right: "0" }} />
          <span class="view" style={{ left: `${frame.from * 100}%`, width: `${(frame.to - frame.from) * 100}%` }} />
        </>
      ) : null}
    </div>
  );
}

// --- internal ---

/** A shorter drag is a click. */
const LEAST_DRAG = 0.004;

function draw(canvas: HTMLCanvasElement, spans: Spans, axis: Axis): void {
  const scale = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.scale(scale, scale);
  const style = getComputedStyle(canvas);
  const colours = new Map<string, string>();
  const colourOf = (name: string): string => {
    const known = colours.get(name) ?? style.getPropertyValue(`--k-${name.replace("_", "-")}`).trim();
    colours.set(name, known);
    return known;
  };
  const rowPx = height / Math.max(1, spans.count);
  const line = Math.min(3, Math.max(1, rowPx * 0.8));
  // Failed spans last, so that they stay visible on shared lines
  for (const failed of [false, true]) {
    for (let i = 0; i < spans.count; i++) {
      if (spans.has(i, "error") !== failed) continue;
      const x = placeOf(axis, spans.startMs[i] ?? 0) * width;
      const w = Math.max(1, placeOf(axis, spans.endMs[i] ?? 0) * width - x);
      context.fillStyle = colourOf(failed ? "failed" : spans.kindOf(i));
      context.fillRect(Math.min(x, width - 1), i * rowPx, w, failed ? Math.max(2, line) : line);
    }
  }
}
