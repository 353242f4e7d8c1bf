import { readlinkSync, realpathSync } from "node:fs";
import { UserError } from "../errors.ts";

/**
 * An age (`7d`, `36h`, `12w`), a time (`2026-11-14`, `2026-11-14T09:00`, local without a zone), or the start of `today`, `yesterday`, this `week`
 * (its Monday) or this `month`.
 *
 * @returns milliseconds since the epoch
 * @throws UserError when it is neither
 */
export function timeOf(option: string, text: string, nowMs: number): number {
  const [, amount, unit] = /^(\d{1,6})([hdw])$/.exec(text) ?? [];
  const unitMs = UNITS[unit ?? ""];
  if (amount !== undefined && unitMs !== undefined) return notTooEarly(option, text, nowMs - Number(amount) * unitMs);
  const daysAgo = daysSince(nowMs).get(text);
  if (daysAgo !== undefined) return startOfDay(nowMs, -daysAgo);
  const [, date = "", time] = /^(\d{4}-\d\d-\d\d)(T.*)?$/.exec(text) ?? [];
  // JavaScript reads a date without a time as UTC; here it is local like a date with time
  const ms = Date.parse(time === undefined ? `${date}T00:00` : text);
  if (isDate(date) && !Number.isNaN(ms)) return notTooEarly(option, text, ms);
  throw new UserError(
    "E_USAGE",
    `${option} takes an age like 7d or 36h, a time like 2026-11-14T09:00, or today, yesterday, week, month; not ${JSON.stringify(text)}`,
  );
}

/**
 * An age: `90d`, `36h`, `12w`.
 *
 * @returns milliseconds
 * @throws UserError when it is not an age
 */
export function ageOf(option: string, text: string): number {
  const [, amount, unit] = /^(\d{1,6})([hdw])$/.exec(text) ?? [];
  const unitMs = UNITS[unit ?? ""];
  if (amount !== undefined && unitMs !== undefined) return Number(amount) * unitMs;
  throw new UserError("E_USAGE", `${option} takes an age like 90d, 12w or 36h, not ${JSON.stringify(text)}`);
}

/**
 * `timeOf` for `--since`, the start of a range.
 *
 * @throws UserError also for a time in the future
 */
export function sinceOf(text: string, nowMs: number): number {
  const ms = timeOf("--since", text, nowMs);
  if (ms <= nowMs) return ms;
  throw new UserError("E_USAGE", `--since ${JSON.stringify(text)} is in the future`);
}

/** Start of a day of the local calendar. @param days counted from the day that contains the time; negative: before it */
export function startOfDay(ms: number, days = 0): number {
  const day = new Date(ms);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + days).getTime();
}

/**
 * The IANA name of this process's time zone, as `Intl` reports it. Asks `Intl` only if the name is not obvious, because that takes
 * 10 ms: all its names take 1 ms.
 *
 * @param settings the variable TZ, and the machine's setting without it: usually a link to `…/zoneinfo/<name>`
 */
export function timeZoneName({ zone, link }: Settings = { zone: process.env["TZ"], link: "/etc/localtime" }): string {
  const name = process.platform === "win32" ? undefined : (zone ?? linkedZone(link));
  if (name === "UTC" || name === "Etc/UTC") return "UTC";
  // Of names with the same rules `Intl` knows one as the name, and reports it for the others too
  if (name !== undefined && Intl.supportedValuesOf("timeZone").includes(name)) return name;
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/**
 * Runs something as if this machine were in another time zone. The variable TZ decides about all local times and days of a process, so
 * no function needs an argument for the zone, and none can forget it.
 *
 * @param name IANA name, e.g. `Europe/Berlin`; `undefined`: the machine's
 * @throws UserError for any other text, before anything runs
 */
export async function inTimeZone<T>(name: string | undefined, run: () => T | Promise<T>): Promise<T> {
  if (name === undefined) return run();
  const [zone, before] = [knownZone(name), process.env["TZ"]];
  process.env["TZ"] = zone;
  try {
    return await run();
  } finally {
    if (before === undefined) delete process.env["TZ"];
    else process.env["TZ"] = before;
  }
}

// --- internal ---

function knownZone(name: string): string {
  try {
    const { timeZone } = new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions();
    // An offset, which the variable TZ does not know
    if (/^[A-Z]/.test(timeZone)) return timeZone;
  } catch {
    // No time zone
  }
  throw new UserError(
    "E_USAGE",
    `--time-zone takes a name like Europe/Berlin, America/New_York or UTC, not ${JSON.stringify(name)}`,
  );
}

/** Days since the start of the periods that have a word. */
function daysSince(nowMs: number): ReadonlyMap<string, number> {
  const now = new Date(nowMs);
  return new Map([
    ["today", 0],
    ["yesterday", 1],
    ["week", (now.getDay() + 6) % 7],
    ["month", now.getDate() - 1],
  ]);
}

/** The earliest time that is accepted: dates as text need years of four digits. */
const FIRST_MS = Date.parse("1000-01-02T00:00Z");

function notTooEarly(option: string, text: string, ms: number): number {
  if (ms >= FIRST_MS) return ms;
  throw new UserError("E_USAGE", `${option} ${JSON.stringify(text)} is before the year 1000`);
}

/** JavaScript reads February 30 as a day in March. */
function isDate(date: string): boolean {
  const ms = Date.parse(date);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date);
}

const HOUR_MS = 3_600_000;
const UNITS: Readonly<Record<string, number>> = { h: HOUR_MS, d: 24 * HOUR_MS, w: 7 * 24 * HOUR_MS };

interface Settings {
  readonly zone: string | undefined;
  readonly link: string;
}

/** `undefined` for a copy instead of a link, and for a link to a link with another name. */
function linkedZone(link: string): string | undefined {
  try {
    const name = zoneOf(readlinkSync(link));
    return name === zoneOf(realpathSync(link)) ? name : undefined;
  } catch {
    return undefined;
  }
}

function zoneOf(path: string): string | undefined {
  const at = path.indexOf(FOLDER);
  return at < 0 ? undefined : path.slice(at + FOLDER.length);
}

const FOLDER = "/zoneinfo/";
