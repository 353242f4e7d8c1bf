import { useMemo, useState } from "preact/hooks";
import type { Spans } from "../spans.ts";
import { type Axis, FULL_VIEW, makeAxis, moved, positionOf, type Viewport, zoomed } from "./axis.ts";

/** The time axis, and the part of it that the user sees. */
export interface TimeView {
  readonly axis: Axis;
  readonly viewport: Viewport;
  readonly isZoomed: boolean;
  /** Whether the session has pauses that can be drawn shorter, and whether they are. */
  readonly hasLongPauses: boolean;
  readonly shortensPauses: boolean;
  readonly shortenPauses: (shorten: boolean) => void;
  readonly show: (viewport: Viewport) => void;
  readonly showAll: () => void;
  /** Shows `factor` times as much time around a position on the axis. */
  zoom(factor: number, around: number): void;
  /** Shows a period. @param margin 1.2: with a fifth more around it */
  fit(fromMs: number, toMs: number, margin: number): void;
  /** Moves by a share of what is visible. */
  move(share: number): void;
  /** A time as a share of the viewport: below 0 or above 1 if it is outside. */
  shareOf(ms: number): number;
}

export function useTimeView(spans: Spans): TimeView {
  const [shortensPauses, shortenPauses] = useState(true);
  const [viewport, show] = useState<Viewport>(FULL_VIEW);
  const shortened = useMemo(() => makeAxis(spans, true), [spans]);
  const axis = useMemo(() => (shortensPauses ? shortened : makeAxis(spans, false)), [spans, shortened, shortensPauses]);
  const { from, to } = viewport;
  return {
    axis,
    viewport,
    isZoomed: from > 0 || to < 1,
    hasLongPauses: shortened.pauses.length > 0,
    shortensPauses,
    shortenPauses,
    show,
    showAll: () => show(FULL_VIEW),
    zoom: (factor, around) => show(zoomed(axis, viewport, around, factor)),
    fit(fromMs, toMs, margin) {
      const [first, last] = [positionOf(axis, fromMs), positionOf(axis, toMs)];
      // A viewport without width cannot be zoomed
      const period = { from: first, to: Math.max(last, first + 1e-9) };
      show(zoomed(axis, period, (first + last) / 2, margin));
    },
    move: (share) => show(moved(viewport, share * (to - from))),
    shareOf: (ms) => (positionOf(axis, ms) - from) / (to - from),
  };
}
