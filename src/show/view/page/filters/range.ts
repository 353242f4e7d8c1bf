import type { TimeUnit } from "../../wire/api.ts";
import type { ViewParams } from "../route.ts";

export const RANGES = [
  { value: "1", text: "Last 24 hours" },
  { value: "7", text: "Last 7 days" },
  { value: "30", text: "Last 30 days" },
  { value: "90", text: "Last 90 days" },
  { value: "365", text: "Last year" },
  { value: "all", text: "All time" },
  { value: "between", text: "Between …" },
] as const;
export type Range = (typeof RANGES)[number]["value"];

export const rangeNamed = (name: string | undefined, fallback: Range): Range =>
  RANGES.find(({ value }) => value === name)?.value ?? fallback;

interface Chosen extends Days {
  readonly range: Range;
}

/** A period, as the server's parameters. Without a start it begins with the first session, without an end it ends now. */
interface Bounds {
  readonly sinceMs?: string;
  readonly untilMs?: string;
}

/** The chosen period in the user's time zone. */
export function boundsOfRange({ range, ...days }: Chosen): Bounds {
  if (range === "all") return {};
  // The current hour and the 23 before it
  if (range === "1") return { sinceMs: String(Math.floor(Date.now() / HOUR_MS - 23) * HOUR_MS) };
  if (range !== "between") return { sinceMs: String(startOfDay(Number(range) - 1)) };
  const { startMs, endMs } = timeOf(days);
  return {
    ...(startMs !== undefined && { sinceMs: String(startMs) }),
    ...(endMs !== undefined && { untilMs: String(endMs) }),
  };
}

/** The period in an address's parameters. */
export const boundsOfParams = (params: ViewParams, fallback: Range): Bounds =>
  boundsOfRange({ range: rangeNamed(params["range"], fallback), from: params["from"], to: params["to"] });

/** Start of the period of the same length before; `undefined` if the chosen one has no start. */
export function beforeOf(chosen: Chosen): string | undefined {
  const { range } = chosen;
  const { sinceMs, untilMs } = boundsOfRange(chosen);
  if (sinceMs === undefined) return undefined;
  if (range === "1") return String(Number(sinceMs) - 24 * HOUR_MS);
  // By the calendar, because days with a change of the clock are longer or shorter
  if (range !== "between") return String(startOfDay(2 * Number(range) - 1));
  return String(2 * Number(sinceMs) - Number(untilMs ?? Date.now()));
}

/** Units with a readable number of bars; the first is the default. */
export function unitsOf({ range, ...chosen }: Chosen): readonly TimeUnit[] {
  const days = range === "between" ? countOf(chosen) : Number(range);
  if (days <= 2) return ["hour", "day"];
  if (days <= 7) return ["day", "hour"];
  if (days <= 62) return ["day", "week"];
  if (days <= 200) return ["week", "day"];
  return ["month", "week"];
}

/** Start of the day that many days ago, in the user's time zone. */
export function startOfDay(daysAgo: number): number {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo).getTime();
}

/** Two days as an address has them, `2026-11-21`; both are included. */
export interface Days {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The time from the start of the first to the end of the last day, in the user's time zone; absent: none is chosen, or the text is no day. */
export function timeOf({ from, to }: Days): { readonly startMs?: number; readonly endMs?: number } {
  const [startMs, endMs] = [startOf(from, 0), startOf(to, 1)];
  return { ...(startMs !== undefined && { startMs }), ...(endMs !== undefined && { endMs }) };
}

// --- internal ---

const HOUR_MS = 3_600_000;

/** The number of days, up to now if no last one is chosen; NaN: no first one is chosen. */
function countOf(days: Days): number {
  const { startMs = Number.NaN, endMs = Date.now() } = timeOf(days);
  return (endMs - startMs) / (24 * HOUR_MS);
}

/** Start of the day that is `daysLater` days after a day. By the calendar, because days with a change of the clock are longer or shorter. */
function startOf(day: string | undefined, daysLater: number): number | undefined {
  const [year, month, date] = (day ?? "").split("-").map(Number);
  if (year === undefined || month === undefined || date === undefined) return undefined;
  const ms = new Date(year, month - 1, date + daysLater).getTime();
  return Number.isNaN(ms) ? undefined : ms;
}
