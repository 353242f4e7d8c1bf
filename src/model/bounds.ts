import type { Event } from "./event.ts";
import { ID_MEMBERS, PATH_MEMBERS, TIME_MEMBERS } from "./members.ts";
import type { TokenUsage, TranscriptEntry } from "./transcript.ts";

// What agents and their transcripts say is theirs to choose: any length, any character, any number. From here on it is
// bounded, so that no room behind has to ask. Applied in one place, `drain/bound.ts`.

/** Longer ids are shortened and carry a digest, so that two of them stay two. Real ones have some 40. */
export const MAX_ID_CHARACTERS = 256;
/** Longer names and codes are cut. */
export const MAX_NAME_CHARACTERS = 256;
/** PATH_MAX of Linux; a longer path names nothing. */
export const MAX_PATH_CHARACTERS = 4096;
/** Depth, members and items of what foreign senders put under `extensions`. */
const MAX_DEPTH = 8;
const MAX_MEMBERS = 200;
const MAX_ITEMS = 1000;
/** No answer of a model has more; sums over ten thousand of them are still whole numbers. */
const MAX_TOKENS = 1e11;
/** Longer than any session; years. */
const MAX_DURATION_MS = 1e11;
/** 2000 and 2200: nanoseconds since 1970 fit 64 bits, and no agent is older. */
export const MIN_TIME_MS = 946_684_800_000;
export const MAX_TIME_MS = 7_258_118_400_000;

/** Short, of fixed length, different for different texts. */
export type Digest = (text: string) => string;

/**
 * An event within bounds: ids shortened, names cut, control characters replaced, numbers and times that cannot be meant
 * left out. An event within them comes back as it is, the same object.
 *
 * @param receivedMs its time, where its own cannot be meant
 * @throws never
 */
export function boundEvent(event: Event, receivedMs: number, digest: Digest): Event {
  const ms = Date.parse(event.time);
  const isTime = ms >= MIN_TIME_MS && ms <= MAX_TIME_MS;
  const timed = isTime ? event : { ...event, time: new Date(clampTime(receivedMs)).toISOString() };
  return bound(timed, "", 0, digest) as Event;
}

/** The same for a transcript's entry, with the usage that its figures mean. */
export function boundEntry(entry: TranscriptEntry, digest: Digest): TranscriptEntry {
  if (entry.kind === "model_call" && entry.usage !== undefined) {
    const { usage: told, ...rest } = entry;
    const usage = meantUsage(told);
    return bound(usage === undefined ? rest : { ...entry, usage }, "", 0, digest) as TranscriptEntry;
  }
  if (entry.kind === "reported_usage") {
    const byModel = Object.entries(entry.byModel).flatMap(([model, told]) => {
      const usage = meantUsage(told);
      return usage === undefined ? [] : [[model, usage]];
    });
    return bound({ ...entry, byModel: Object.fromEntries(byModel) }, "", 0, digest) as TranscriptEntry;
  }
  return bound(entry, "", 0, digest) as TranscriptEntry;
}

/** An id within bounds. The same text gives the same id, another one another. */
export function boundId(id: string, digest: Digest): string {
  if (id.length <= MAX_ID_CHARACTERS && isClean(id)) return id;
  // A source stays what a source may be: lower-case words with single dashes
  return `${cleaned(id.slice(0, HEAD_CHARACTERS)).replace(/-+$/, "")}-${digest(id)}`;
}

/** A name within bounds, cut and without control characters. */
export function boundName(name: string): string {
  if (name.length <= MAX_NAME_CHARACTERS && isClean(name)) return name;
  return cleaned(name.length <= MAX_NAME_CHARACTERS ? name : `${name.slice(0, MAX_NAME_CHARACTERS - 1)}…`);
}

/** A path is what it is: half of one, or one with a character changed, is another's. @returns `undefined` for one that cannot stay */
export const boundPath = (path: string): string | undefined =>
  path.length <= MAX_PATH_CHARACTERS && !path.includes("\0") && !/\p{Cs}/u.test(path) ? path : undefined;

/**
 * Whether an entry is within bounds as it is, by a look that costs little: no member of a member is gone into but usage. Names
 * and paths are the caller's to judge.
 *
 * @param isFine whether a name or path may stay
 */
export function isPlain(entry: TranscriptEntry, isFine: (text: string, member: string) => boolean): boolean {
  // Every record of every transcript passes here: no list of members is made
  const members = entry as unknown as Readonly<Record<string, unknown>>;
  for (const member in members) {
    const value = members[member];
    switch (typeof value) {
      case "string":
        if (ID_MEMBERS.has(member) ? !isPlainId(value) : !isFine(value, member)) return false;
        break;
      case "number":
        if (boundNumber(value, member) !== value) return false;
        break;
      case "boolean":
        break;
      default:
        if (member !== "usage" || !isPlainUsage(value)) return false;
    }
  }
  return true;
}

// --- internal ---

const isPlainId = (id: string): boolean => id.length <= MAX_ID_CHARACTERS && PLAIN.test(id);

function isPlainUsage(usage: unknown): boolean {
  if (typeof usage !== "object" || usage === null) return false;
  const counts = usage as Readonly<Record<string, unknown>>;
  for (const kind in counts) {
    const n = counts[kind];
    if (typeof n !== "number" || !Number.isSafeInteger(n) || n < 0 || n > MAX_TOKENS) return false;
  }
  return isMeant(usage as TokenUsage);
}

/** Whether the figures can be what they are called: somebody told them, and parts are no more than what they are part of. */
const isMeant = (usage: TokenUsage): boolean =>
  usage.input + usage.output > 0 && cachedIn(usage) <= usage.input && (usage.reasoning ?? 0) <= usage.output;

const cachedIn = ({ cacheRead = 0, cacheWrite = 0 }: TokenUsage): number => cacheRead + cacheWrite;

/**
 * Usage as it can only be meant. Servers between an agent and its model tell input without the cache, or output without
 * reasoning, in fields that include them by the API's rules: a part that is larger than the whole stands beside it.
 *
 * @returns `undefined` where nobody told: no answer takes no tokens at all; and for numbers that cannot be meant, never a guess
 */
function meantUsage<T extends TokenUsage>(told: T): T | undefined {
  if (!isUsage(told) || told.input + told.output === 0) return undefined;
  if (isMeant(told)) return told;
  const { input, output, reasoning = 0 } = told;
  const cached = cachedIn(told);
  const meant = {
    ...told,
    input: cached > input ? input + cached : input,
    output: reasoning > output ? output + reasoning : output,
  };
  return isUsage(meant) ? meant : undefined;
}

/** Of an id that is shortened, to know it by. */
const HEAD_CHARACTERS = 64;

const isDuration = (member: string): boolean => member.endsWith("Ms") || member.endsWith("_ms");

/** Nothing to replace in it: the usual case, and quick to tell. */
const PLAIN = /^[\x20-\x7e]*$/;
/** Control characters, halves of characters, and what turns the direction of what follows. */
const UNCLEAN = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const ALL_UNCLEAN = new RegExp(UNCLEAN.source, "gu");

const isClean = (text: string): boolean => PLAIN.test(text) || !UNCLEAN.test(text);
const cleaned = (text: string): string => text.replace(ALL_UNCLEAN, "\ufffd");

const isUsage = (usage: object): boolean =>
  Object.values(usage).every((n) => n === undefined || (typeof n === "number" && n >= 0 && n <= MAX_TOKENS));

const clampTime = (ms: number): number => Math.min(MAX_TIME_MS, Math.max(MIN_TIME_MS, Number.isFinite(ms) ? ms : 0));

/** @returns the same value where nothing had to change; `undefined` where it cannot stay */
function bound(value: unknown, name: string, depth: number, digest: Digest): unknown {
  switch (typeof value) {
    case "string":
      if (ID_MEMBERS.has(name)) return boundId(value, digest);
      return PATH_MEMBERS.has(name) ? boundPath(value) : boundName(value);
    case "number":
      return boundNumber(value, name);
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
    const named = boundName(name);
    const within = name === "__proto__" ? undefined : bound(value, name, depth + 1, digest);
    if (within !== undefined) kept.push([named, within]);
    if (within !== value || named !== name) isSame = false;
  }
  return isSame ? members : Object.fromEntries(kept);
}

function boundNumber(value: number, name: string): number | undefined {
  if (TIME_MEMBERS.has(name)) return clampTime(value);
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return undefined;
  return isDuration(name) ? Math.min(MAX_DURATION_MS, Math.max(0, value)) : value;
}
