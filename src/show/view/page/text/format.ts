import * as amounts from "#kit/text/amounts.ts";

const { capitalised, duration, exact, plural, shortCount } = amounts;

export { capitalised, duration, exact, plural, shortCount };

// Texts of figures as the page shows them. None of these functions throws

/** For everything that is compared: `$1,234.50`, `$0.02`, `<$0.01`, `$0`. */
export const dollars = (usd: number): string => amounts.dollars(nanoUsd(usd));

/** A lower bound: `≥$0.12`; `>$0` if it is less than half a cent. @param gap after the sign */
export const leastDollars = (usd: number, gap = ""): string => amounts.leastDollars(nanoUsd(usd), gap);

/** For one amount where small differences matter: `$12.30`, `$0.0123`, `<$0.0001`, `$0`. */
export const preciseDollars = (usd: number): string => amounts.preciseDollars(nanoUsd(usd));

/** A time of `--json` in milliseconds since the epoch; 0 if it is unknown. */
export const msOf = (time: string | null): number => (time === null ? 0 : Date.parse(time));

/** Time since a start, for an axis with ticks `stepMs` apart, with enough digits to distinguish them. */
export function offset(ms: number, stepMs: number): string {
  if (stepMs < 1000 && ms < 60_000) {
    return ms < 1000 && stepMs < 100
      ? `${trimmed(ms)} ms`
      : `${(ms / 1000).toFixed(stepMs < 10 ? 3 : stepMs < 100 ? 2 : 1)} s`;
  }
  if (ms < 60_000) return `${trimmed(ms / 1000)} s`;
  const tail = stepMs < 1000 ? `.${Math.floor((ms % 1000) / 100)}` : "";
  const seconds = Math.floor(ms / 1000);
  if (ms < 3_600_000) return `${Math.floor(seconds / 60)}:${two(seconds % 60)}${tail}`;
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}${tail}`;
}

/** Every digit, or `unknown`. */
export const orUnknown = (n: number | null): string => (n === null ? "unknown" : exact(n));

/** For an axis with ticks `stepUsd` apart, with enough digits to distinguish them and the same number on all of them. */
export function dollarsOnAxis(usd: number, stepUsd: number): string {
  const isWhole = (digits: number): boolean => nanoUsd(stepUsd) % 10 ** (9 - digits) === 0;
  const digits = [0, 2, 3, 4, 5, 6].find(isWhole) ?? 9;
  return `$${usd.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** `58%`; `–` if the whole is 0. */
export const percent = (part: number, whole: number): string =>
  whole > 0 ? amounts.percentOf(Math.min(1, part / whole)) : "–";

/** Day and minute in the user's time zone. */
export const dateTime = (ms: number): string => MINUTES.format(ms);

/** The minute alone: `16:47`. */
export const timeOfDay = (ms: number): string => TIMES.format(ms);

/** `Today`, `Yesterday`, `Sat 28 Nov`, and the year if it is another one. */
export function dayName(ms: number): string {
  const [name, now] = [DAYS.format(ms), Date.now()];
  if (name === DAYS.format(now)) return "Today";
  // Noon, because the day before can be an hour shorter or longer
  if (name === DAYS.format(new Date(now).setHours(12) - 86_400_000)) return "Yesterday";
  const isThisYear = new Date(ms).getFullYear() === new Date(now).getFullYear();
  return (isThisYear ? name.replace(/ \d{4}$/, "") : name).replace(",", "");
}

/** To the second. */
export const dateTimeExact = (ms: number): string => SECONDS.format(ms);

/** To the millisecond. */
export const clock = (ms: number): string => CLOCK.format(ms);

/** A bucket's display name: `week 47, 2026`, `11-21 07:00`. */
export function bucketName(bucket: string): string {
  const hour = /^(\d{4}-\d\d-\d\d)T(\d\d):00/.exec(bucket);
  if (hour !== null) return `${hour[1]?.slice(5)} ${hour[2]}:00`;
  const week = /^(\d{4})-W(\d\d)$/.exec(bucket);
  if (week !== null) return `week ${Number(week[2])}, ${week[1]}`;
  return bucket;
}

/** A bucket on an axis: `07:00`, `21 Nov`, `w 47`, `Nov 26`. */
export function bucketLabel(bucket: string): string {
  const hour = /T(\d\d):00/.exec(bucket);
  if (hour !== null) return `${hour[1]}:00`;
  const week = /-W(\d\d)$/.exec(bucket);
  if (week !== null) return `w ${Number(week[1])}`;
  const [year = "", month = "", day] = bucket.split("-");
  const name = MONTHS[Number(month) - 1] ?? month;
  return day === undefined ? `${name} ${year.slice(2)}` : `${Number(day)} ${name}`;
}

/** The user's time zone, as an IANA name. */
export const timeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

// --- internal ---

/** In whole billionths, as amounts are compared and rounded everywhere. */
const nanoUsd = (usd: number): number => Math.round(usd * 1e9);

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const two = (n: number): string => String(n).padStart(2, "0");
const trimmed = (n: number): string => String(Math.round(n * 1000) / 1000);

const day = { year: "numeric", month: "short", day: "numeric" } as const;
const time = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
const MINUTES = new Intl.DateTimeFormat("en-GB", { ...day, ...time });
const TIMES = new Intl.DateTimeFormat("en-GB", time);
const DAYS = new Intl.DateTimeFormat("en-GB", { ...day, weekday: "short" });
const SECONDS = new Intl.DateTimeFormat("en-GB", { ...day, ...time, second: "2-digit" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { ...time, second: "2-digit", fractionalSecondDigits: 3 });
