import type { TimeUnit } from "../../wire/api.ts";
import type { Params, ViewParams } from "../route.ts";

export const RANGES = [
  { value: "1", text: "Last 24 hours" },
  { value: "today", text: "Today" },
  { value: "7", text: "Last 7 days" },
  { value: "month", text: "This month" },
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
  if (range === "month") return { sinceMs: String(startOfMonth(0)) };
  if (range !== "between") return { sinceMs: String(startOfDay(daysOf(range) - 1)) };
  const { startMs, endMs } = timeOf(days);
  return {
    ...(startMs !== undefined && { sinceMs: String(startMs) }),
    ...(endMs !== undefined && { untilMs: String(endMs) }),
  };
}

/** The period in an address's parameters. */
export const boundsOfParams = (params: ViewParams, fallback: Range): Bounds =>
  boundsOfRange({ range: rangeNamed(params["range"], fallback), from: params["from"], to: params["to"] });

/** The filters of a view with figures, for a link to the sessions behind them. */
export const filtersOf = ({ agent, repository, model, range, from, to }: ViewParams, fallback: Range): Params => ({
  ...{ agent, repository, model, from, to },
  range: rangeNamed(range, fallback),
});

/** What a browser's tab is called: the view with its filters, but for texts, which can be parts of prompts. */
export const titleOf = (view: string, params: ViewParams): string =>
  [
    view,
    ...["repository", "agent", "model", "tool"].flatMap((name) => params[name] ?? []),
    ...RANGES.flatMap(({ value, text }) => (value === params["range"] ? [text.toLowerCase()] : [])),
  ].join(", ");

/** Start of the period of the same length before; `undefined` if the chosen one has no start. */
export function beforeOf(chosen: Chosen): string | undefined {
  const { range } = chosen;
  const { sinceMs, untilMs } = boundsOfRange(chosen);
  if (sinceMs === undefined) return undefined;
  if (range === "1") return String(Number(sinceMs) - 24 * HOUR_MS);
  // By the calendar, because days with a change of the clock are longer or shorter
  if (range === "month") return String(startOfMonth(1));
  if (range !== "between") return String(startOfDay(2 * daysOf(range) - 1));
  return String(2 * Number(sinceMs) - Number(untilMs ?? Date.now()));
}

/** Units with a readable number of bars; the first is the default. */
export function unitsOf({ range, ...chosen }: Chosen): readonly TimeUnit[] {
  const days = range === "between" ? countOf(chosen) : daysOf(range);
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

/** Start of this month, or of one before it, in the user's time zone. */
export function startOfMonth(monthsAgo: number): number {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth() - monthsAgo).getTime();
}

/** The first and last day of a bucket, as parameters of an address; of an hour, its day. */
export function daysOfBucket(bucket: string): { readonly range: Range; readonly from: string; readonly to: string } {
  const [year = 0, month = 1] = bucket.split(/-W?/).map(Number);
  const days = (first: number, last: number) =>
    [first, last].map((ms) => new Date(ms).toISOString().slice(0, "2026-11-21".length));
  // The 4th of January is in the first week of its year
  const monday = Date.UTC(year, 0, 4 - ((new Date(Date.UTC(year, 0, 4)).getUTCDay() + 6) % 7) + 7 * (month - 1));
  const [from = "", to = ""] = bucket.includes("W")
    ? days(monday, monday + 6 * 24 * HOUR_MS)
    : bucket.length === "2026-11".length
      ? days(Date.UTC(year, month - 1, 1), Date.UTC(year, month, 0))
      : [bucket.slice(0, "2026-11-21".length), bucket.slice(0, "2026-11-21".length)];
  return { range: "between", from, to };
}

/** Two days as an address has them, `2026-11-21`; both are included. */
interface Days {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The time from the start of the first to the end of the last day, in the user's time zone; absent: none is chosen, or the text is no day. */
function timeOf({ from, to }: Days): { readonly startMs?: number; readonly endMs?: number } {
  const [startMs, endMs] = [startOf(from, 0), startOf(to, 1)];
  return { ...(startMs !== undefined && { startMs }), ...(endMs !== undefined && { endMs }) };
}

// --- internal ---

const HOUR_MS = 3_600_000;

/** NaN: all time. */
const daysOf = (range: Exclude<Range, "between">): number =>
  range === "today" ? 1 : range === "month" ? LONGEST_MONTH : Number(range);

const LONGEST_MONTH = 31;

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
