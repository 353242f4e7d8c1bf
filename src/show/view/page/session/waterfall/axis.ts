import type { Spans } from "../spans.ts";

/** Maps time to a position between 0 and 1, linearly between knots. Times are relative to the spans' base. */
export interface Axis {
  readonly endMs: number;
  readonly knotMs: Float64Array;
  readonly knotAt: Float64Array;
  /** Shortened pauses, in order of time. */
  readonly pauses: readonly Pause[];
}

/** A time without activity, which is drawn shorter. */
export interface Pause {
  readonly startMs: number;
  readonly endMs: number;
  /** Positions on the axis. */
  readonly from: number;
  readonly to: number;
}

/** The visible part of the axis, as positions. */
export interface Viewport {
  readonly from: number;
  readonly to: number;
}

export const FULL_VIEW: Viewport = { from: 0, to: 1 };

/**
 * @param shorten if pauses take more than a quarter of the time and 10 s, draw them together as a quarter of the width: sessions stay open
 *        over lunch, or for days
 */
export function makeAxis(spans: Spans, shorten: boolean): Axis {
  const endMs = spans.endMs.reduce((max, ms) => Math.max(max, ms), 0);
  const gaps = shorten ? gapsOf(spans, endMs) : [];
  const idleMs = gaps.reduce((sum, [startMs, gapEndMs]) => sum + gapEndMs - startMs, 0);
  const busyMs = endMs - idleMs;
  const isWorthwhile = busyMs > 0 && idleMs >= MIN_IDLE_MS && idleMs > endMs * IDLE_SHARE;
  // The length of the axis at the scale of busy time, and by what factor gaps are drawn shorter
  const drawnMs = isWorthwhile ? busyMs / (1 - IDLE_SHARE) : endMs;
  const gapScale = isWorthwhile ? (busyMs * IDLE_SHARE) / (1 - IDLE_SHARE) / idleMs : 1;
  const knotMs = [0];
  const knotAt = [0];
  const pauses: Pause[] = [];
  let [lastMs, at] = [0, 0];
  for (const [startMs, gapEndMs] of isWorthwhile ? gaps : []) {
    const from = at + (startMs - lastMs) / drawnMs;
    const to = from + ((gapEndMs - startMs) * gapScale) / drawnMs;
    pauses.push({ startMs, endMs: gapEndMs, from, to });
    knotMs.push(startMs, gapEndMs);
    knotAt.push(from, to);
    [lastMs, at] = [gapEndMs, to];
  }
  knotMs.push(Math.max(endMs, 1e-3));
  knotAt.push(1);
  return { endMs, knotMs: Float64Array.from(knotMs), knotAt: Float64Array.from(knotAt), pauses };
}

export const positionOf = ({ knotMs, knotAt }: Axis, ms: number): number => between(knotMs, knotAt, ms);

export const timeAt = ({ knotMs, knotAt }: Axis, position: number): number => between(knotAt, knotMs, position);

/** The viewport made `factor` times as wide around position `at`. Not wider than the axis, nor too narrow to distinguish times. */
export function zoomed(axis: Axis, { from, to }: Viewport, at: number, factor: number): Viewport {
  const minWidth = Math.min(1, MIN_VIEWPORT_MS / Math.max(axis.endMs, MIN_VIEWPORT_MS));
  const width = Math.min(1, Math.max(minWidth, (to - from) * factor));
  const share = (at - from) / (to - from);
  return moved({ from: at - width * share, to: at + width * (1 - share) }, 0);
}

/** The viewport moved along the axis, not beyond its ends. */
export function moved({ from, to }: Viewport, by: number): Viewport {
  const width = Math.min(1, to - from);
  const start = Math.min(1 - width, Math.max(0, from + by));
  return { from: start, to: start + width };
}

export interface Tick {
  /** Position within the viewport, 0 to 1. */
  readonly at: number;
  readonly ms: number;
  readonly stepMs: number;
}

/** About `wanted` ticks for a viewport: at round times if time is linear there, otherwise at even distances. */
export function ticksOf(axis: Axis, { from, to }: Viewport, wanted: number): readonly Tick[] {
  const [startMs, endMs] = [timeAt(axis, from), timeAt(axis, to)];
  const isLinear = !axis.pauses.some((pause) => pause.endMs > startMs && pause.startMs < endMs);
  const n = Math.max(2, wanted);
  if (!isLinear) {
    return Array.from({ length: n }, (_, i) => {
      const ms = timeAt(axis, from + ((to - from) * i) / n);
      return { at: i / n, ms, stepMs: Math.max(1000, (endMs - startMs) / n) };
    });
  }
  const stepMs = roundStep((endMs - startMs) / n);
  const ticks: Tick[] = [];
  for (let k = Math.ceil(startMs / stepMs - 1e-9); k * stepMs <= endMs; k++) {
    ticks.push({ at: (positionOf(axis, k * stepMs) - from) / (to - from), ms: k * stepMs, stepMs });
  }
  return ticks;
}

// --- internal ---

const IDLE_SHARE = 0.25;
/** Pauses shorter than this in total are not shortened. */
const MIN_IDLE_MS = 10_000;
const MIN_VIEWPORT_MS = 2;

const STEPS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3, 1800e3, 3600e3,
  7200e3, 14_400e3, 21_600e3, 43_200e3, 86_400e3,
];

function roundStep(ms: number): number {
  if (ms < 1) return 10 ** Math.ceil(Math.log10(Math.max(ms, 1e-3)));
  return STEPS_MS.find((step) => step >= ms) ?? Math.ceil(ms / 86_400e3) * 86_400e3;
}

/** Times without any active span except the session itself. */
function gapsOf(spans: Spans, endMs: number): readonly (readonly [number, number])[] {
  const active: number[] = [];
  for (let i = 0; i < spans.count; i++) if (spans.kindOf(i) !== "session") active.push(i);
  active.sort((a, b) => (spans.startMs[a] ?? 0) - (spans.startMs[b] ?? 0));
  const gaps: [number, number][] = [];
  let lastMs = 0;
  for (const i of active) {
    const startMs = spans.startMs[i] ?? 0;
    if (startMs > lastMs) gaps.push([lastMs, startMs]);
    lastMs = Math.max(lastMs, spans.endMs[i] ?? 0);
  }
  if (active.length > 0 && endMs > lastMs) gaps.push([lastMs, endMs]);
  return gaps;
}

function between(from: Float64Array, to: Float64Array, value: number): number {
  let [low, high] = [0, from.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((from[middle] ?? 0) <= value) low = middle;
    else high = middle;
  }
  const [a, b, x, y] = [from[low] ?? 0, from[high] ?? 0, to[low] ?? 0, to[high] ?? 0];
  return b <= a ? x : x + (y - x) * Math.min(1, Math.max(0, (value - a) / (b - a)));
}
