import { QUARTER_MS } from "#core/model/packed.ts";
import type { TimeUnit } from "./query.ts";

export { startOfDay } from "#kit/text/times.ts";

/**
 * Returns the name of the hour, day, week or month of a time, in a time zone.
 *
 * With daylight saving time, days have 23 to 25 hours: a bucket is what has the same name, not a number of milliseconds.
 * The hour that occurs twice has two names, because the offset is part of the name.
 *
 * @param timeZone IANA name. @default the machine's
 * @returns a function from milliseconds since the epoch to `2026-11-21T07:00+01:00`, `2026-11-21`, `2026-W47` (ISO 8601,
 *          starts on Monday) or `2026-11`
 * @throws RangeError for a time zone that does not exist
 */
export function bucketsOf(timeZone?: string): (ms: number, unit: TimeUnit) => string {
  const namesAt = timeZone === undefined ? localNames : namesIn(timeZone);
  const known = new Map<number, Readonly<Record<TimeUnit, string>>>();
  return (ms, unit) => {
    const quarter = quarterOf(ms);
    let names = known.get(quarter);
    if (names === undefined) {
      names = namesAt(quarter * QUARTER_MS);
      known.set(quarter, names);
    }
    return names[unit];
  };
}

/** Number of the quarter hour of a time. All offsets of time zones are multiples of a quarter hour. */
/** The whole quarters that a range touches, because the store has sums per quarter; open ends stay open. */
export const wholeQuarters = ({
  sinceMs = 0,
  untilMs = Number.POSITIVE_INFINITY,
}: {
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
}): { readonly sinceMs: number; readonly untilMs: number } => ({
  sinceMs: Math.floor(sinceMs / QUARTER_MS) * QUARTER_MS,
  untilMs: Math.ceil(untilMs / QUARTER_MS) * QUARTER_MS,
});

const quarterOf = (ms: number): number => Math.floor(ms / QUARTER_MS);

/**
 * All buckets from one time to another, in order, including empty ones.
 *
 * @param untilMs exclusive: the last bucket is the one of the moment before it
 */
export function bucketsBetween(sinceMs: number, untilMs: number, unit: TimeUnit, timeZone?: string): readonly string[] {
  const nameOf = bucketsOf(timeZone);
  const names = new Set<string>();
  for (let ms = sinceMs; ms < untilMs; ms += STEP_MS[unit]) names.add(nameOf(ms, unit));
  if (untilMs > sinceMs) names.add(nameOf(untilMs - 1, unit));
  return [...names];
}

/** An offset from UTC and when it starts to apply. */
interface Offset {
  readonly fromMs: number;
  readonly offsetMs: number;
}

/** Offsets between two times, in order; the first also applies before, the last after. */
export function offsetsBetween(sinceMs: number, untilMs: number, timeZone?: string): readonly Offset[] {
  const nameOf = bucketsOf(timeZone);
  const offsetAt = (ms: number): number => {
    const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)(?::\d\d)?$/.exec(nameOf(ms, "hour")) ?? [];
    return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  };
  const fromMs = Math.max(sinceMs, EARLIEST_MS);
  const offsets: Offset[] = [{ fromMs, offsetMs: offsetAt(fromMs) }];
  for (let ms = fromMs; ms < Math.min(untilMs, LATEST_MS); ms += UNMOVED_MS) {
    const [before, after] = [offsetAt(ms), offsetAt(ms + UNMOVED_MS)];
    if (before === after) continue;
    let [low, high] = [quarterOf(ms), quarterOf(ms + UNMOVED_MS)];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (offsetAt(middle * QUARTER_MS) === before) low = middle;
      else high = middle;
    }
    offsets.push({ fromMs: high * QUARTER_MS, offsetMs: after });
  }
  return offsets;
}

/** Buckets of one unit in order of time. */
export const compareBuckets = (a: string, b: string): number =>
  a.includes("T") && b.includes("T") ? Date.parse(a) - Date.parse(b) : a < b ? -1 : a > b ? 1 : 0;

/** Monday of an ISO week, as `2026-11-16`. */
export function mondayOf(week: string): string {
  const [year = 0, number = 1] = week.split("-W").map(Number);
  const fourth = new Date(Date.UTC(year, 0, 4));
  return isoDate(fourth.getTime() + ((number - 1) * 7 - mondaysBefore(fourth)) * DATE_MS);
}

/** The first moment of a bucket, by the machine's clocks. */
export function startOfBucket(name: string): number {
  if (name.includes("T")) return Date.parse(name);
  const [year = 0, month = 1, day = 1] = (name.includes("W") ? mondayOf(name) : name).split("-").map(Number);
  return new Date(year, month - 1, day).getTime();
}

// --- internal ---

/** No agent existed before; later times than the latest cannot be right. */
const EARLIEST_MS = Date.UTC(2015, 0, 1);
const LATEST_MS = Date.UTC(2100, 0, 1);

/** Length of a date in UTC, which has no daylight saving time. */
const DATE_MS = 86_400_000;
/** Clocks never change twice within a week; the shortest time between changes was a month. */
const UNMOVED_MS = 7 * DATE_MS;
/** At most as long as the shortest bucket of the unit. */
const STEP_MS = {
  hour: QUARTER_MS,
  day: 22 * 3_600_000,
  week: 6 * DATE_MS,
  month: 27 * DATE_MS,
} as const satisfies Record<TimeUnit, number>;

type Names = Readonly<Record<TimeUnit, string>>;

/** @throws RangeError for a time zone that does not exist */
function namesIn(timeZone: string): (ms: number) => Names {
  const format = new Intl.DateTimeFormat("en-US-u-ca-gregory-nu-latn", {
    timeZone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    hourCycle: "h23",
    timeZoneName: "longOffset",
  });
  return (ms) => {
    const parts = format.formatToParts(ms);
    const part = (type: Intl.DateTimeFormatPartTypes): string => parts.find((one) => one.type === type)?.value ?? "";
    const day = `${part("year").padStart(4, "0")}-${part("month")}-${part("day")}`;
    return namesOf(day, part("hour"), part("timeZoneName").slice("GMT".length) || "+00:00");
  };
}

/** In the machine's time zone. Without `Intl`, which takes 10 ms to load. */
function localNames(ms: number): Names {
  const at = new Date(ms);
  const minutes = -at.getTimezoneOffset();
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const day = `${String(at.getFullYear()).padStart(4, "0")}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())}`;
  const offset = `${minutes < 0 ? "-" : "+"}${twoDigits(hours)}:${twoDigits(rest)}`;
  return namesOf(day, twoDigits(at.getHours()), offset);
}

const twoDigits = (number: number): string => String(number).padStart(2, "0");

const namesOf = (day: string, hour: string, offset: string): Names => ({
  hour: `${day}T${hour}:00${offset}`,
  day,
  week: weekOf(day),
  month: day.slice(0, 7),
});

/** A week belongs to the year of its Thursday (ISO 8601). */
function weekOf(day: string): string {
  const at = new Date(`${day}T00:00Z`);
  const thursday = new Date(at.getTime() + (3 - mondaysBefore(at)) * DATE_MS);
  const year = thursday.getUTCFullYear();
  const number = 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / DATE_MS / 7);
  return `${year}-W${String(number).padStart(2, "0")}`;
}

/** Days since the last Monday, 0 to 6. */
const mondaysBefore = (date: Date): number => (date.getUTCDay() + 6) % 7;

const isoDate = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
