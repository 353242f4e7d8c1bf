/**
 * Amounts as text for people, the same in the terminal and on the page, which has this file in its bundle too. None of these throws; no
 * result needs escaping.
 */

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

/** A count in at most five characters up to the billions: `9,999`, `24.9k`, `1.2M`. */
export function shortCount(n: number): string {
  if (n < 10_000) return exact(n);
  if (n < 999_500) return `${short(n / 1e3)}k`;
  return n < 999_500_000 ? `${short(n / 1e6)}M` : `${short(n / 1e9)}B`;
}

/** Every digit: `1,234,567`. */
export const exact = (n: number): string => grouped(String(Math.round(n)));

/** For everything that is compared: `$1,234.50`, `$0.02`, `<$0.01`, `$0`. */
export function dollars(nanoUsd: number): string {
  const usd = nanoUsd / 1e9;
  if (usd === 0) return "$0";
  return usd < 0.005 ? "<$0.01" : grouped(`$${usd.toFixed(2)}`);
}

/** A lower bound: `≥$0.12`; `>$0` if it is less than half a cent. @param gap after the sign */
export const leastDollars = (nanoUsd: number, gap = ""): string =>
  nanoUsd > 0 && nanoUsd < 5_000_000 ? ">$0" : `≥${gap}${dollars(nanoUsd)}`;

/** For one amount where small differences matter: `$12.30`, `$0.0123`, `<$0.0001`, `$0`. */
export function preciseDollars(nanoUsd: number): string {
  const usd = nanoUsd / 1e9;
  if (usd === 0) return "$0";
  if (usd < 0.0001) return "<$0.0001";
  return usd < 0.999_95 ? `$${usd.toFixed(4)}` : grouped(`$${usd.toFixed(2)}`);
}

/** `58%`; `<1%` and `>99%` instead of a rounded 0% and 100%. @param share 0 to 1 */
export function percentOf(share: number): string {
  if (share > ROUNDING && share < 0.005) return "<1%";
  return share < 1 - ROUNDING && share >= 0.995 ? ">99%" : `${Math.round(share * 100)}%`;
}

/** How much something changed, of the share 0.33: `+33%`, `-3.4%`, `0%`. @param unit empty: of points */
export const changeOf = (share: number, unit = "%"): string =>
  `${Math.abs(share) < 0.0005 ? "" : share > 0 ? "+" : "-"}${sizeOf(share)}${unit}`;

/** The same without sign and unit: `33`, `3.4`. */
export function sizeOf(share: number): string {
  const percent = Math.abs(share) * 100;
  return percent < 0.05 || percent >= 9.95 ? exact(percent) : percent.toFixed(1);
}

/** `1 turn`, `2,500 turns`. */
export const plural = (n: number, one: string, many = `${one}s`): string => `${exact(n)} ${n === 1 ? one : many}`;

export const capitalised = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

// --- internal ---

/** Sums of dollars differ by as much from the whole that they are. */
const ROUNDING = 1e-12;

/** A comma between each three digits before the decimal point. Not Intl, which takes long to start. */
const grouped = (digits: string): string => digits.replaceAll(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ",");

const two = (n: number): string => String(n).padStart(2, "0");

const short = (n: number): string => (n < 99.95 ? n.toFixed(1) : String(Math.round(n)));
