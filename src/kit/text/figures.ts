import { dollars, exact, leastDollars, shortCount } from "./amounts.ts";

export {
  changeOf,
  dollars,
  duration,
  exact,
  leastDollars,
  percentOf,
  plural,
  preciseDollars,
  sizeOf,
} from "./amounts.ts";

// Figures as text for people. None of these throws; no result needs escaping

/** Sums over model calls, see `CallSums`. */
interface Sums {
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  readonly costNanoUsd?: number | undefined;
  readonly unpricedCalls: number;
  readonly callsWithoutUsage: number;
  readonly incompleteCalls: number;
}

/** `9,999`, `24.9k`, `1.2M`; absent: `?`. */
export const count = (n: number | undefined): string => (n === undefined ? "?" : shortCount(n));

/** `$0.12`; `≥$0.12` if a call has no price or is incomplete; `?` if no call has a price. */
export function costText({ costNanoUsd, unpricedCalls, incompleteCalls }: Omit<Sums, "callsWithoutUsage">): string {
  if (costNanoUsd === undefined) return "?";
  return unpricedCalls + incompleteCalls > 0 ? leastDollars(costNanoUsd) : dollars(costNanoUsd);
}

/** Calls with reported tokens and an unknown price. Calls without tokens may well have a price. */
export const pricelessOf = ({
  unpricedCalls,
  callsWithoutUsage,
}: Pick<Sums, "unpricedCalls" | "callsWithoutUsage">): number => unpricedCalls - callsWithoutUsage;

/** `10.2k→80`; with `≥` before a lower bound; `?` for what no call reports. */
export function tokensText({ input, output, callsWithoutUsage, incompleteCalls }: Omit<Sums, "unpricedCalls">): string {
  if (input === undefined && output === undefined) return "?";
  const isOutputLeast = callsWithoutUsage + incompleteCalls > 0;
  return `${atLeast(input, callsWithoutUsage > 0)}→${atLeast(output, isOutputLeast)}`;
}

/** `<0.1 MB`, `0.4 MB`, `12.3 MB`, `1,204 MB`; `0 MB` for nothing. */
export function megabytes(bytes: number): string {
  if (bytes < 50_000) return bytes > 0 ? "<0.1 MB" : "0 MB";
  return `${bytes < 99_950_000 ? (bytes / 1e6).toFixed(1) : exact(bytes / 1e6)} MB`;
}

/** Local time to the second: `2026-11-21 07:37:02`. */
export function localTime(ms: number): string {
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return "unknown";
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${date} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** `null` for no valid time. */
export const isoTime = (ms: number | undefined): string | null =>
  ms === undefined || Number.isNaN(new Date(ms).getTime()) ? null : new Date(ms).toISOString();

/** Whole billionths as US dollars; unknown is `null`. */
export const usd = (nanoUsd: number | null | undefined): number | null =>
  nanoUsd === undefined || nanoUsd === null ? null : nanoUsd / 1e9;

// --- internal ---

const atLeast = (n: number | undefined, isLeast: boolean): string => `${least(isLeast && n !== undefined)}${count(n)}`;

const least = (isLeast: boolean): string => (isLeast ? "≥" : "");

const two = (n: number): string => String(n).padStart(2, "0");
