import type { CallSums } from "../model/call-sums.ts";

/** Numbers as text for people. None of these throws; no result needs escaping. */

/** `420ms`, `12.4s`, `3m 05s`, `2h 03m`, `3d 4h`. */
export function duration(ms: number): string {
  if (!(ms > 0)) return "0s";
  if (ms < 999.5) return `${Math.max(1, Math.round(ms))}ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  const minutes = Math.round(ms / 60_000);
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`;
  const hours = Math.round(ms / 3_600_000);
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** A count in at most five characters up to the billions: `9999`, `24.9k`, `1.2M`; absent: `?`. */
export function count(n: number | undefined): string {
  if (n === undefined) return "?";
  if (n < 10_000) return String(n);
  if (n < 999_500) return `${short(n / 1e3)}k`;
  return n < 999_500_000 ? `${short(n / 1e6)}M` : `${short(n / 1e9)}G`;
}

/** `$12.30`, `$0.02`, `<$0.01`, `$0`. */
export function dollars(nanoUsd: number): string {
  const usd = nanoUsd / 1e9;
  if (usd === 0) return "$0";
  return usd < 0.005 ? "<$0.01" : `$${usd.toFixed(2)}`;
}

/** Where small differences matter: `$12.30`, `$0.0123`, `<$0.0001`, `$0`. */
export function preciseDollars(nanoUsd: number): string {
  const usd = nanoUsd / 1e9;
  if (usd === 0) return "$0";
  if (usd < 0.0001) return "<$0.0001";
  return usd < 0.999_95 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

/** `$0.12`; `≥$0.12` if a call has no price or is incomplete; `?` if no call has a price. */
export const costText = ({ costNanoUsd, unpricedCalls, incompleteCalls }: CallSums): string =>
  costNanoUsd === undefined ? "?" : `${least(unpricedCalls + incompleteCalls > 0)}${dollars(costNanoUsd)}`;

/** Calls with reported tokens and an unknown price. Calls without tokens may well have a price. */
export const pricelessOf = ({ unpricedCalls, callsWithoutUsage }: CallSums): number =>
  unpricedCalls - callsWithoutUsage;

/** `10.2k→80`; with `≥` before a lower bound; `?` for what no call reports. */
export function tokensText({ input, output, callsWithoutUsage, incompleteCalls }: CallSums): string {
  if (input === undefined && output === undefined) return "?";
  const isOutputLeast = callsWithoutUsage + incompleteCalls > 0;
  return `${atLeast(input, callsWithoutUsage > 0)}→${atLeast(output, isOutputLeast)}`;
}

/** `<0.1 MB`, `0.4 MB`, `12.3 MB`, `1204 MB`; `0 MB` for nothing. */
export function megabytes(bytes: number): string {
  if (bytes < 50_000) return bytes > 0 ? "<0.1 MB" : "0 MB";
  return `${bytes < 99_950_000 ? (bytes / 1e6).toFixed(1) : String(Math.round(bytes / 1e6))} MB`;
}

/** `1 turn`, `2 turns`. */
export const plural = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

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

const short = (n: number): string => (n < 99.95 ? n.toFixed(1) : String(Math.round(n)));
