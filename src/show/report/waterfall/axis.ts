import { merged } from "#kit/numbers.ts";
import { endMsOf, type ShownSpan, spanKindOf } from "./tree.ts";

/** Maps time to a place between 0 and 1: straight lines between knots. */
export interface Axis {
  readonly startMs: number;
  readonly endMs: number;
  readonly knots: readonly { readonly ms: number; readonly at: number }[];
  /** Pauses, in order of time. */
  readonly gaps: readonly (readonly [number, number])[];
  /** Pauses take less room than their time would. */
  readonly isShortened: boolean;
}

/** One axis from the first start to the last end. Long pauses are shortened. */
export function axisOf(spans: readonly ShownSpan[]): Axis {
  const records = spans.map(({ record }) => record);
  const startMs = records.reduce((ms, r) => Math.min(ms, r.startMs), Infinity);
  const endMs = records.reduce((ms, r) => Math.max(ms, endMsOf(r)), -Infinity);
  const working = records.filter((r) => spanKindOf(r) !== "session");
  const busy = merged((working.length > 0 ? working : records).map((r) => [r.startMs, endMsOf(r)]));
  const gaps: [number, number][] = [];
  let lastMs = startMs;
  for (const [from, to] of busy) {
    if (from > lastMs) gaps.push([lastMs, from]);
    lastMs = Math.max(lastMs, to);
  }
  if (endMs > lastMs) gaps.push([lastMs, endMs]);
  const idleMs = gaps.reduce((sum, [from, to]) => sum + to - from, 0);
  const busyMs = endMs - startMs - idleMs;
  const isShortened = busyMs > 0 && idleMs >= MIN_IDLE_MS && idleMs > (busyMs + idleMs) * MAX_IDLE_SHARE;
  const scale = isShortened ? (busyMs * MAX_IDLE_SHARE) / (1 - MAX_IDLE_SHARE) / idleMs : 1;
  const whole = busyMs + idleMs * scale;
  const knots = [{ ms: startMs, at: 0 }];
  let [shownMs, ms] = [0, startMs];
  for (const [from, to] of gaps) {
    shownMs += from - ms;
    knots.push({ ms: from, at: shownMs / whole });
    shownMs += (to - from) * scale;
    knots.push({ ms: to, at: shownMs / whole });
    ms = to;
  }
  knots.push({ ms: endMs, at: 1 });
  return { startMs, endMs, knots, gaps, isShortened };
}

/** Where a time lies on the axis: 0 is its start, 1 its end. */
export function placeOf({ knots }: Axis, ms: number): number {
  let [low, high] = [0, knots.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((knots[middle]?.ms ?? 0) <= ms) low = middle;
    else high = middle;
  }
  const [a, b] = [knots[low], knots[high]];
  if (a === undefined || b === undefined || b.ms <= a.ms) return a?.at ?? 0;
  return a.at + (b.at - a.at) * Math.min(1, Math.max(0, (ms - a.ms) / (b.ms - a.ms)));
}

/** Which of `width` cells lie in a shortened pause. */
export function idleCells(axis: Axis, width: number): readonly boolean[] {
  const cells = new Array<boolean>(width).fill(false);
  if (!axis.isShortened) return cells;
  for (const [from, to] of axis.gaps) {
    const first = Math.ceil(placeOf(axis, from) * width);
    const last = Math.floor(placeOf(axis, to) * width);
    for (let i = first; i < last; i++) cells[i] = true;
  }
  return cells;
}

// --- internal ---

/** Shortened pauses take at most this share of the axis, so that work stays visible. */
const MAX_IDLE_SHARE = 0.25;
/** If all pauses together are shorter than this, none is shortened. */
const MIN_IDLE_MS = 10_000;
