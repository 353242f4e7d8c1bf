/** Formatting of figures. None of these throws. */

/** `420 ms`, `12.4 s`, `3m 05s`, `2h 03m`, `3d 4h`. */
export function duration(ms: number): string {
  if (!(ms > 0)) return "0 s";
  if (ms < 999.5) return ms < 1 ? "<1 ms" : `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  const minutes = Math.round(ms / 60_000);
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`;
  const hours = Math.round(ms / 3_600_000);
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

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

/** Short: `9,999`, `24.9K`, `1.2M`. */
export const count = (n: number): string => (Math.abs(n) < 10_000 ? WHOLE.format(n) : SHORT.format(n));

/** Every digit. */
export const exact = (n: number): string => WHOLE.format(n);

/** Every digit, or `unknown`. */
export const orUnknown = (n: number | null): string => (n === null ? "unknown" : exact(n));

/** `$12.30`, `$0.0123`, `<$0.0001`, `$0`. */
export function dollars(nanoUsd: number): string {
  const usd = nanoUsd / 1e9;
  if (usd === 0) return "$0";
  if (usd < 0.0001) return "<$0.0001";
  return usd < 1 ? `$${usd.toFixed(4)}` : DOLLARS.format(usd);
}

/** For tables: `$12.30`, `$0.01`, and only below a cent as `dollars`. */
export const roundDollars = (nanoUsd: number): string =>
  nanoUsd < 10_000_000 ? dollars(nanoUsd) : DOLLARS.format(nanoUsd / 1e9);

/**
 * For a column whose largest amount is `largestNanoUsd`: the same number of decimals in every row, two from a dollar on and
 * four below.
 */
export function dollarsInColumn(nanoUsd: number, largestNanoUsd: number): string {
  if (largestNanoUsd < 1e9 || nanoUsd === 0) return dollars(nanoUsd);
  return nanoUsd < 5_000_000 ? "<$0.01" : DOLLARS.format(nanoUsd / 1e9);
}

/** For an axis with ticks `stepNanoUsd` apart, with enough digits to distinguish them and the same number on all of them. */
export function dollarsOnAxis(nanoUsd: number, stepNanoUsd: number): string {
  const isWhole = (digits: number): boolean => Math.round(stepNanoUsd) % 10 ** (9 - digits) === 0;
  const digits = [0, 2, 3, 4, 5, 6].find(isWhole) ?? 9;
  return `$${(nanoUsd / 1e9).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** `<1%` and `>99%` instead of a rounded 0% and 100%. */
export function percent(part: number, whole: number): string {
  if (!(whole > 0)) return "–";
  const share = Math.min(1, part / whole);
  if (share > 0 && share < 0.005) return "<1%";
  return share < 1 && share >= 0.995 ? ">99%" : SHARE.format(share);
}

/** `1 turn`, `2 turns`. */
export const plural = (n: number, one: string, many = `${one}s`): string => `${exact(n)} ${n === 1 ? one : many}`;

/** Day and minute in the user's time zone. */
export const dateTime = (ms: number): string => MINUTES.format(ms);

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

/** The user's time zone, as an IANA name. */
export const timeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

// --- internal ---

const two = (n: number): string => String(n).padStart(2, "0");
const trimmed = (n: number): string => String(Math.round(n * 1000) / 1000);

const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });
const DOLLARS = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
const SHARE = new Intl.NumberFormat("en-US", { style: "percent", maximumFractionDigits: 0 });
const day = { year: "numeric", month: "short", day: "numeric" } as const;
const time = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
const MINUTES = new Intl.DateTimeFormat("en-GB", { ...day, ...time });
const SECONDS = new Intl.DateTimeFormat("en-GB", { ...day, ...time, second: "2-digit" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { ...time, second: "2-digit", fractionalSecondDigits: 3 });
