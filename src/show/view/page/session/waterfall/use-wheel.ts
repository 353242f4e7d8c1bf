import { useEffect, useRef } from "preact/hooks";
import type { ScrollArea } from "./use-scroll-area.ts";
import type { TimeView } from "./use-time-view.ts";

/** Ctrl and the wheel zoom at the pointer; Shift and the wheel, or a sideways wheel, move in time. Otherwise the browser scrolls. */
export function useWheel(area: ScrollArea, time: TimeView): void {
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

// --- internal ---

/** One notch of a wheel, about 100 px, is one zoom step; a pinch sends smaller ones. */
const ZOOM_SPEED = 0.005;
