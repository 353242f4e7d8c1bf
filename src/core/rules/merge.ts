import { defined, type Writable } from "#kit/objects.ts";
import type { EntryOf, TokenUsage, TranscriptEntry } from "../model/transcript.ts";
import { isWholeUsage } from "./calls.ts";
import { isChangeFact } from "./change-facts.ts";

/**
 * Joins two readings of one record (same key). Commutative, associative and idempotent: neither the order nor repeated reading
 * changes the result. Each field is joined separately by a rule that always keeps the same value. Of entries of different
 * kinds, the earlier one is kept.
 */
export function mergeEntries(a: TranscriptEntry, b: TranscriptEntry): TranscriptEntry {
  if (a.kind !== b.kind) return isBefore(b, a) ? b : a;
  if (a.kind === "reported_usage" && b.kind === "reported_usage") return laterSums(a, b);
  if (isChangeFact(a) && isChangeFact(b)) return moreCertain(a, b);
  const joined = joinFields(a, b) as TranscriptEntry;
  if (a.kind !== "model_call" || b.kind !== "model_call") return joined;
  const own = answer(a, b);
  const call = { ...joined } as Partial<Writable<ModelCall>>;
  // That of the fuller record, also if it has none
  if (own.tier === undefined) delete call.tier;
  return { ...call, ...own } as ModelCall;
}

/**
 * An answer with the figures of its copy, if they are fuller: the original session can end, or lose lines, before the copy is
 * written. Keys, turn and time of the answer stay.
 */
export function withFuller(answer: ModelCall, copy: ModelCall): ModelCall {
  const { usage, model, complete, finishReason, coveredCalls, tier, cacheMiss } = copy;
  const { webSearches, hasOtherFees, nanoCredits } = copy;
  const isFuller = compareUsage(usage, answer.usage) > 0;
  const isSum = answer.covers !== undefined;
  const knowsMore = !isSum && canonical(joinUsage(answer.usage, usage)) !== canonical(answer.usage);
  if (!isFuller && !knowsMore && (answer.complete || !complete)) return answer;
  const { usage: _, model: __, finishReason: ___, tier: ____, ...place } = answer;
  const fees = { tier, webSearches, hasOtherFees, nanoCredits };
  const figures = defined<Partial<ModelCall>>({ usage, coveredCalls, model, finishReason, cacheMiss, ...fees });
  return mergeEntries(answer, { ...place, complete, ...figures }) as ModelCall;
}

/** Which usage is fuller: positive if it is `a`, 0 if they are equal. The larger output is the later count. */
export function compareUsage(a: ModelCall["usage"], b: ModelCall["usage"]): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  if (a.output !== b.output) return (a.output ?? -1) - (b.output ?? -1);
  if (isWholeUsage(a) !== isWholeUsage(b)) return isWholeUsage(a) ? 1 : -1;
  const [one, other] = [canonical(a), canonical(b)];
  return one === other ? 0 : one > other ? 1 : -1;
}

/**
 * The fuller usage, completed by what only the other one has: input with its cache, or output with its reasoning. Neither group
 * is ever split, because a model that fell back has figures that belong together.
 */
export function joinUsage(fuller: TokenUsage | undefined, other: TokenUsage | undefined): TokenUsage | undefined {
  if (fuller === undefined || other === undefined || isWholeUsage(fuller)) return fuller ?? other;
  const joined: Writable<TokenUsage> = { ...fuller };
  for (const side of SIDES) {
    if (fuller[side[0]] !== undefined || other[side[0]] === undefined) continue;
    for (const kind of side) {
      const tokens = other[kind];
      if (tokens === undefined) delete joined[kind];
      else joined[kind] = tokens;
    }
  }
  return joined;
}

// --- internal ---

type ModelCall = EntryOf<"model_call">;
type Reported = EntryOf<"reported_usage">;

type ChangeFact = EntryOf<"commit"> | EntryOf<"change">;

/** Facts of one commit or change from several sources: the most certain one, completed by the other. */
function moreCertain(a: ChangeFact, b: ChangeFact): ChangeFact {
  const order = rankOf(a) - rankOf(b) || (isBefore(b, a) ? 1 : -1);
  const [main, other] = order <= 0 ? [a, b] : [b, a];
  const { isElsewhere: _, ...both } = { ...other, ...main };
  const joined = a.isElsewhere === true && b.isElsewhere === true ? { ...both, isElsewhere: true as const } : both;
  // In the log of HEAD an id has all its digits
  if (joined.kind !== "commit" || other.kind !== "commit" || other.commit.length <= joined.commit.length) return joined;
  return other.commit.startsWith(joined.commit) ? { ...joined, commit: other.commit } : joined;
}

const rankOf = ({ certainty, how }: ChangeFact): number =>
  HOW.indexOf(how) + (certainty === "observed" ? 0 : HOW.length);

/** Where facts come from, the most certain first. */
const HOW: readonly ChangeFact["how"][] = ["printed", "branch-name", "transcript", "trailer", "reflog", "edits"];

/**
 * Keeps members that only one of them has. If values differ, the one with the smaller JSON text is kept. Members keep their
 * order in `a`, so that reading a record again gives the same text.
 */
function joinFields(a: TranscriptEntry, b: TranscriptEntry): Record<string, unknown> {
  const joined: Record<string, unknown> = { ...a };
  for (const [name, value] of Object.entries(b)) {
    const other = joined[name];
    // Joined by `answer`, which compares their values
    if (OF_FULLER.has(name) && other !== undefined) continue;
    if (value !== undefined && value !== other && isLess(value, other)) joined[name] = value;
  }
  // A subagent that continues the main conversation starts its file with copies of it
  if (a.agentId === undefined || b.agentId === undefined) delete joined["agentId"];
  // An answer belongs to the turn in which it began, even if the next prompt arrives before its last line
  const order = a.timeMs - b.timeMs || (canonical(a.promptKey) <= canonical(b.promptKey) ? -1 : 1);
  const { timeMs, promptKey } = order < 0 ? a : b;
  joined["timeMs"] = timeMs;
  if (promptKey === undefined) delete joined["promptKey"];
  else joined["promptKey"] = promptKey;
  return joined;
}

/** Members of a model call that are joined by `answer`. */
const OF_FULLER: ReadonlySet<string> = new Set(["usage", "coveredCalls", "model", "webSearches", "nanoCredits"]);

/** Members of which the larger value counts. */
const GROWING = ["webSearches", "coveredCalls", "nanoCredits"] as const;

/**
 * Agents write one record per content block; the output count only grows, and one of the records has the finish reason. The model
 * and the service tier are those of the fuller record: an answer can fall back to another model while it is written.
 */
function answer(a: ModelCall, b: ModelCall): Partial<ModelCall> {
  const starts = [a.startMs, b.startMs].filter((ms) => ms !== undefined);
  const order = compareUsage(a.usage, b.usage);
  const [fuller, other] = order > 0 || (order === 0 && isLess(a.model, b.model)) ? [a, b] : [b, a];
  const { model = other.model } = fuller;
  // Sums grow, so the parts of an earlier sum do not fit a later one
  const isSum = (a.covers ?? b.covers) !== undefined;
  const usage = isSum ? (fuller.usage ?? other.usage) : joinUsage(fuller.usage, other.usage);
  const areEqual = order === 0 && fuller.model === other.model;
  const tier = areEqual && isLess(other.tier ?? LAST, fuller.tier ?? LAST) ? other.tier : fuller.tier;
  return {
    endMs: Math.max(a.endMs, b.endMs),
    complete: a.complete || b.complete,
    ...(starts.length > 0 && { startMs: Math.min(...starts) }),
    ...(usage && { usage }),
    ...(model !== undefined && { model }),
    ...(tier !== undefined && { tier }),
    ...Object.fromEntries(
      GROWING.flatMap((name) => {
        const known = [a[name], b[name]].filter((n) => n !== undefined);
        return known.length > 0 ? [[name, Math.max(...known)] as const] : [];
      }),
    ),
  };
}

const SIDES = [
  ["input", "cacheRead", "cacheWrite", "cacheWrite5m", "cacheWrite1h"],
  ["output", "reasoning"],
] as const;

/** Cumulative: larger sums are later ones. */
function laterSums(a: Reported, b: Reported): Reported {
  return (totalOf(a) - totalOf(b) || (isBefore(a, b) ? -1 : 1)) > 0 ? a : b;
}

const totalOf = (entry: Reported): number =>
  Object.values(entry.byModel).reduce((sum, usage) => sum + (usage.input ?? 0) + (usage.output ?? 0), 0);

const isBefore = (a: TranscriptEntry, b: TranscriptEntry): boolean =>
  a.timeMs !== b.timeMs ? a.timeMs < b.timeMs : canonical(a) < canonical(b);

/** Compares canonical texts; numbers and strings need no sorting. */
function isLess(a: unknown, b: unknown): boolean {
  if (b === undefined) return true;
  if (typeof a === "number" && typeof b === "number") return String(a) < String(b);
  if (typeof a === "string" && typeof b === "string") return JSON.stringify(a) < JSON.stringify(b);
  return isLessJson(a, b);
}

/** Which of two objects or lists is kept if records of one key have both. */
export const isLessJson = (a: unknown, b: unknown): boolean => canonical(a) < canonical(b);

/** The same text for the same value, regardless of the order of members; `undefined` sorts last. */
const canonical = (value: unknown): string =>
  value === undefined
    ? LAST
    : JSON.stringify(value, (_, inner: unknown) =>
        typeof inner === "object" && inner !== null && !Array.isArray(inner)
          ? Object.fromEntries(Object.entries(inner).sort(([x], [y]) => (x < y ? -1 : 1)))
          : inner,
      );
const LAST = "\uffff";
