import { sumOfAll } from "#kit/numbers.ts";
import { ID_MEMBERS, PATH_MEMBERS, TIME_MEMBERS } from "#kit/objects.ts";
import type { Event } from "../model/event-schema.ts";
import { TOKEN_KINDS } from "../model/token-kinds.ts";
import type { TokenUsage, TranscriptEntry } from "../model/transcript.ts";
import { isWholeUsage } from "./calls.ts";

// Agents and their transcripts can contain texts of any length, any characters and any numbers. They are limited here once, so
// that later code need not check them. The only caller for events and entries is `capture/limit-fields.ts`.

/** Longer ids are shortened and get a digest, so that different ids stay different. Real ones have about 40 characters. */
export const MAX_ID_CHARACTERS = 256;
/** Longer names and codes are truncated. */
export const MAX_NAME_CHARACTERS = 256;
/** PATH_MAX of Linux; a longer path cannot exist. */
export const MAX_PATH_CHARACTERS = 4096;
/** Limits for depth, members and items of other senders' `extensions`. */
const MAX_DEPTH = 8;
const MAX_MEMBERS = 200;
const MAX_ITEMS = 1000;
/** More than any answer has. Sums over ten thousand such answers are still exact integers. */
const MAX_TOKENS = 1e11;
/** Longer than any session: about three years. */
const MAX_DURATION_MS = 1e11;
/** The years 2000 and 2200: no agent is older, and nanoseconds since 1970 fit in 64 bits. */
const MIN_TIME_MS = 946_684_800_000;
const MAX_TIME_MS = 7_258_118_400_000;

/** Returns a short text of fixed length, different for different texts. */
type Digest = (text: string) => string;

/**
 * An event within limits: ids shortened, names cut, control characters replaced, impossible numbers and times left out. An event
 * that is within limits is returned unchanged, as the same object.
 *
 * @param receivedMs replaces an impossible time
 * @throws never
 */
export function limitEvent(event: Event, receivedMs: number, digest: Digest): Event {
  const ms = Date.parse(event.time);
  const isTime = ms >= MIN_TIME_MS && ms <= MAX_TIME_MS;
  const timed = isTime ? event : { ...event, time: new Date(clampTime(receivedMs)).toISOString() };
  return bound(timed, "", 0, digest) as Event;
}

/** `limitEvent` for a transcript entry; also corrects impossible usage, see `correctedUsage`. */
export function limitEntry(entry: TranscriptEntry, digest: Digest): TranscriptEntry {
  if (entry.kind === "model_call" && entry.usage !== undefined) {
    const { usage: reported, ...rest } = entry;
    const usage = correctedUsage(reported);
    return bound(usage === undefined ? rest : { ...entry, usage }, "", 0, digest) as TranscriptEntry;
  }
  if (entry.kind === "reported_usage") {
    const byModel = Object.entries(entry.byModel).flatMap(([model, reported]) => {
      const usage = correctedUsage(reported);
      return usage === undefined ? [] : [[model, usage]];
    });
    return bound({ ...entry, byModel: Object.fromEntries(byModel) }, "", 0, digest) as TranscriptEntry;
  }
  return bound(entry, "", 0, digest) as TranscriptEntry;
}

/** An id within limits. Equal texts give equal ids, different texts different ones. */
export function limitId(id: string, digest: Digest): string {
  if (id.length <= MAX_ID_CHARACTERS && isClean(id)) return id;
  // The result must still be valid as a source: lower-case words with single dashes
  return `${cleaned(id.slice(0, HEAD_CHARACTERS)).replace(/-+$/, "")}-${digest(id)}`;
}

/** A name within limits: cut, without control characters. */
export function limitName(name: string): string {
  if (name.length <= MAX_NAME_CHARACTERS && isClean(name)) return name;
  return cleaned(name.length <= MAX_NAME_CHARACTERS ? name : `${name.slice(0, MAX_NAME_CHARACTERS - 1)}…`);
}

/**
 * A path is never shortened, because it would then name another file.
 *
 * @returns `undefined` if it is too long or contains control characters
 */
export const limitPath = (path: string): string | undefined =>
  path.length <= MAX_PATH_CHARACTERS && !path.includes("\0") && !/\p{Cs}/u.test(path) ? path : undefined;

/**
 * Fast check whether an entry is within limits, so that `limitEntry` would not change it. The only nested member it accepts is
 * usage.
 *
 * @param isAllowedText the caller's check for names and paths, with the text and the member's name
 */
export function isPlain(entry: TranscriptEntry, isAllowedText: (text: string, member: string) => boolean): boolean {
  // Every record of every transcript is checked here, so no list of members is made
  const members = entry as unknown as Readonly<Record<string, unknown>>;
  for (const member in members) {
    const value = members[member];
    switch (typeof value) {
      case "string":
        if (ID_MEMBERS.has(member) ? !isPlainId(value) : !isAllowedText(value, member)) return false;
        break;
      case "number":
        if (limitNumber(value, member) !== value) return false;
        break;
      case "boolean":
        break;
      default:
        if (member !== "usage" || !isPlainUsage(value)) return false;
    }
  }
  return true;
}

/** Whether `correctedUsage` would return usage unchanged. */
export function isPlainUsage(usage: unknown): boolean {
  if (typeof usage !== "object" || usage === null) return false;
  const counts = usage as Readonly<Record<string, unknown>>;
  for (const kind in counts) {
    const n = counts[kind];
    if (n === undefined) continue;
    if (typeof n !== "number" || !Number.isSafeInteger(n) || n < 0 || n > MAX_TOKENS) return false;
  }
  return isPlausible(usage as TokenUsage);
}

/**
 * Corrects usage that contradicts the API's definitions. Some proxies between agent and model report input without the cache,
 * or output without reasoning, in fields that include them by definition: if a part is larger than the count that should
 * include it, it is added. Cache writes by lifetime are the exception: their sum is the number of written tokens, see
 * `withLifetimesInWrites`.
 *
 * @returns `undefined` if nothing was reported (no answer uses zero tokens) or the numbers are impossible; nothing is guessed
 */
export function correctedUsage<T extends TokenUsage>(reported: T): T | undefined {
  if (!isUsage(reported) || !isReported(reported)) return undefined;
  if (isPlausible(reported)) return reported;
  const { input, output, reasoning } = reported;
  const cached = cachedIn(reported);
  const meant = {
    ...withLifetimesInWrites(reported),
    ...(!isWithin(cached, input) && { input: sumOfAll(input, cached) }),
    ...(!isWithin(reasoning, output) && { output: sumOfAll(output, reasoning) }),
  };
  return isUsage(meant) ? meant : undefined;
}

/** A number within the limits of its member, or `undefined` if none is near: not finite, or not exact. */
export function limitNumber(value: number, name: string): number | undefined {
  if (TIME_MEMBERS.has(name)) return clampTime(value);
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return undefined;
  return isDuration(name) ? Math.min(MAX_DURATION_MS, Math.max(0, value)) : value;
}

/**
 * Limits cache writes by lifetime to the number of tokens that were written. A server that retries can report the breakdown of
 * the first attempt with the sum of the second one: the sum is then right and the breakdown wrong. Writes for an hour are kept
 * first: the higher price is never replaced by a lower one.
 *
 * @returns the same object if its parts are within their sum
 */
export function withLifetimesInWrites<T extends Writes>(usage: T): T {
  const { cacheWrite, cacheWrite5m = 0, cacheWrite1h = 0 } = usage;
  // Nothing limits the parts of an unknown sum
  if (cacheWrite === undefined) return usage;
  if (cacheWrite5m + cacheWrite1h <= cacheWrite) return usage;
  const hour = Math.min(cacheWrite1h, cacheWrite);
  return {
    ...usage,
    ...(usage.cacheWrite5m !== undefined && { cacheWrite5m: cacheWrite - hour }),
    ...(usage.cacheWrite1h !== undefined && { cacheWrite1h: hour }),
  };
}

// --- internal ---

const isPlainId = (id: string): boolean => id.length <= MAX_ID_CHARACTERS && PLAIN.test(id);

/** Whether counts were reported, and no part is larger than the count that includes it. */
const isPlausible = (usage: TokenUsage): boolean =>
  isReported(usage) &&
  isWithin(cachedIn(usage), usage.input) &&
  isWithin(usage.reasoning, usage.output) &&
  withLifetimesInWrites(usage) === usage;

/** No answer uses zero tokens: a server that does not count tokens writes zeros. */
const isReported = (usage: TokenUsage): boolean =>
  isWholeUsage(usage) ? usage.input + usage.output > 0 : TOKEN_KINDS.some((kind) => (usage[kind] ?? 0) > 0);

/** True if either of them is unknown. */
const isWithin = (part: number | undefined, whole: number | undefined): boolean =>
  part === undefined || whole === undefined || part <= whole;

const cachedIn = ({ cacheRead = 0, cacheWrite = 0 }: TokenUsage): number => cacheRead + cacheWrite;

/** Kept characters of a shortened id. */
const HEAD_CHARACTERS = 64;

const isDuration = (member: string): boolean => member.endsWith("Ms") || member.endsWith("_ms");

/** The usual case: no character has to be replaced. */
const PLAIN = /^[\x20-\x7e]*$/;
/** Control characters, halves of surrogate pairs, and characters that change the direction of text. */
const UNCLEAN = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const ALL_UNCLEAN = new RegExp(UNCLEAN.source, "gu");

const isClean = (text: string): boolean => PLAIN.test(text) || !UNCLEAN.test(text);
const cleaned = (text: string): string => text.replace(ALL_UNCLEAN, "\ufffd");

const isUsage = (usage: object): boolean =>
  Object.values(usage).every((n) => n === undefined || (typeof n === "number" && n >= 0 && n <= MAX_TOKENS));

const clampTime = (ms: number): number => Math.min(MAX_TIME_MS, Math.max(MIN_TIME_MS, Number.isFinite(ms) ? ms : 0));

/** @returns the same value if nothing had to change; `undefined` if it cannot be kept */
function bound(value: unknown, name: string, depth: number, digest: Digest): unknown {
  switch (typeof value) {
    case "string":
      if (ID_MEMBERS.has(name)) return limitId(value, digest);
      return PATH_MEMBERS.has(name) || name === "context" ? limitPath(value) : limitName(value);
    case "number":
      return limitNumber(value, name);
    case "boolean":
      return value;
    case "object":
      if (value === null) return null;
      if (depth >= MAX_DEPTH) return undefined;
      return Array.isArray(value) ? boundItems(value, name, depth, digest) : boundMembers(value, depth, digest);
    default:
      return undefined;
  }
}

function boundItems(items: readonly unknown[], name: string, depth: number, digest: Digest): readonly unknown[] {
  const kept = items.slice(0, MAX_ITEMS).map((item) => bound(item, name, depth + 1, digest));
  const isSame = kept.length === items.length && kept.every((item, at) => item === items[at]);
  return isSame ? items : kept.filter((item) => item !== undefined);
}

function boundMembers(members: object, depth: number, digest: Digest): object {
  const given = Object.entries(members);
  let isSame = given.length <= MAX_MEMBERS;
  const kept: [string, unknown][] = [];
  for (const [name, value] of given.slice(0, MAX_MEMBERS)) {
    const named = limitName(name);
    const within = name === "__proto__" ? undefined : bound(value, name, depth + 1, digest);
    if (within !== undefined) kept.push([named, within]);
    if (within !== value || named !== name) isSame = false;
  }
  return isSame ? members : Object.fromEntries(kept);
}

type Writes = Partial<Pick<TokenUsage, "cacheWrite" | "cacheWrite5m" | "cacheWrite1h">>;
