import { type RateLimit, type RateWindow, WINDOW_MS } from "#core/model/rate-limit.ts";

/** One window of one agent: from `startMs`, before `endMs`. */
export interface LimitWindow {
  readonly startMs: number;
  readonly endMs: number;
  /** The agent reported when it ends; otherwise it is derived from the calls. */
  readonly isReported: boolean;
  /** The share of the limit that the agent last reported. */
  readonly percent?: number;
}

/**
 * The windows that an agent reported, in order. Where two overlap, for example because the provider reset a limit early or the account
 * changed, the earlier one ends when the later one begins.
 */
export function reportedWindows(limits: readonly RateLimit[], window: RateWindow): readonly LimitWindow[] {
  const found: { resetsAtMs: number; percent: number }[] = [];
  for (const { resetsAtMs, percent } of limits
    .filter((one) => one.window === window)
    .sort((a, b) => a.resetsAtMs - b.resetsAtMs)) {
    const last = found.at(-1);
    if (last === undefined || resetsAtMs - last.resetsAtMs > SAME_RESET_MS) found.push({ resetsAtMs, percent });
    else last.percent = Math.max(last.percent, percent);
  }
  return found.map(({ resetsAtMs, percent }, i) => {
    const next = (found[i + 1]?.resetsAtMs ?? Number.POSITIVE_INFINITY) - WINDOW_MS[window];
    return { startMs: resetsAtMs - WINDOW_MS[window], endMs: Math.min(resetsAtMs, next), isReported: true, percent };
  });
}

/**
 * All windows of an agent, in order: those that it reported, and for the calls outside of these the ones that follow from the calls. A
 * derived window begins with the full hour (UTC) of its first call, but not before the previous window has ended, and ends before the next
 * reported one begins. Every call lies in exactly one window.
 *
 * @param timesMs of calls, in order
 */
export function windowsOf(
  reported: readonly LimitWindow[],
  timesMs: Iterable<number>,
  lengthMs: number,
): readonly LimitWindow[] {
  const windows: LimitWindow[] = [];
  let next = 0;
  let endMs = Number.NEGATIVE_INFINITY;
  for (const timeMs of timesMs) {
    for (let one = reported[next]; one !== undefined && one.startMs <= timeMs; one = reported[++next]) {
      windows.push(one);
      endMs = one.endMs;
    }
    if (timeMs < endMs) continue;
    const hourMs = Math.floor(timeMs / HOUR_MS) * HOUR_MS;
    const startMs = Math.max(hourMs, endMs);
    endMs = Math.min(hourMs + lengthMs, reported[next]?.startMs ?? Number.POSITIVE_INFINITY);
    windows.push({ startMs, endMs, isReported: false });
  }
  return [...windows, ...reported.slice(next)];
}

// --- internal ---

const HOUR_MS = 3_600_000;
/** Agents round the time of the same reset differently from report to report. */
const SAME_RESET_MS = 5 * 60_000;
