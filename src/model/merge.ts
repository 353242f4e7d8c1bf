import type { EntryOf, TranscriptEntry } from "./transcript.ts";

/**
 * Joins two readings of the same record (same key). Commutative, associative and idempotent, so that neither the
 * order of reading nor reading twice can change the result: every field is joined by itself, with a rule that has one
 * winner whatever comes first. Entries of different kinds: the earlier one is kept.
 */
export function mergeEntries(a: TranscriptEntry, b: TranscriptEntry): TranscriptEntry {
  if (a.kind !== b.kind) return isBefore(b, a) ? b : a;
  if (a.kind === "reported_usage" && b.kind === "reported_usage") return laterSums(a, b);
  const joined = joinFields(a, b) as TranscriptEntry;
  return a.kind === "model_call" && b.kind === "model_call" ? ({ ...joined, ...answer(a, b) } as ModelCall) : joined;
}

// --- internal ---

type ModelCall = EntryOf<"model_call">;
type Reported = EntryOf<"reported_usage">;

/**
 * What one of them alone knows is kept; where they contradict each other, the smaller one by its JSON. Members stay where
 * they are in `a`, so that reading it again gives the same text too.
 */
function joinFields(a: TranscriptEntry, b: TranscriptEntry): Record<string, unknown> {
  const joined: Record<string, unknown> = { ...a };
  for (const [name, value] of Object.entries(b)) {
    const other = joined[name];
    // Told by `answer`, by what it means
    if (name === "usage" && other !== undefined) continue;
    if (value !== undefined && value !== other && isLess(value, other)) joined[name] = value;
  }
  // A subagent that goes on from the main conversation begins its file with copies of it
  if (a.agentId === undefined || b.agentId === undefined) delete joined["agentId"];
  // An answer belongs to the turn it began in, also when the next prompt is there before its last line
  const order = a.timeMs - b.timeMs || (canonical(a.promptKey) <= canonical(b.promptKey) ? -1 : 1);
  const { timeMs, promptKey } = order < 0 ? a : b;
  joined["timeMs"] = timeMs;
  if (promptKey === undefined) delete joined["promptKey"];
  else joined["promptKey"] = promptKey;
  return joined;
}

/** Agents write one record per content block; the output count only grows, and one of them knows how it finished. */
function answer(a: ModelCall, b: ModelCall): Partial<ModelCall> {
  const starts = [a.startMs, b.startMs].filter((ms) => ms !== undefined);
  const usage = fuller(a.usage, b.usage);
  return {
    endMs: Math.max(a.endMs, b.endMs),
    complete: a.complete || b.complete,
    ...(starts.length > 0 && { startMs: Math.min(...starts) }),
    ...(usage && { usage }),
  };
}

function fuller(a: ModelCall["usage"], b: ModelCall["usage"]): ModelCall["usage"] {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.output !== b.output) return a.output > b.output ? a : b;
  return canonical(a) >= canonical(b) ? a : b;
}

/** Cumulative: the larger sums are the later ones. */
function laterSums(a: Reported, b: Reported): Reported {
  return (totalOf(a) - totalOf(b) || (isBefore(a, b) ? -1 : 1)) > 0 ? a : b;
}

const totalOf = (entry: Reported): number =>
  Object.values(entry.byModel).reduce((sum, usage) => sum + usage.input + usage.output, 0);

const isBefore = (a: TranscriptEntry, b: TranscriptEntry): boolean =>
  a.timeMs !== b.timeMs ? a.timeMs < b.timeMs : canonical(a) < canonical(b);

/** By their canonical texts; of numbers and texts that is told without sorting anything. */
function isLess(a: unknown, b: unknown): boolean {
  if (b === undefined) return true;
  if (typeof a === "number" && typeof b === "number") return String(a) < String(b);
  if (typeof a === "string" && typeof b === "string") return JSON.stringify(a) < JSON.stringify(b);
  return canonical(a) < canonical(b);
}

/** The same text for the same value, whatever the order of its members; nothing at all sorts last. */
const canonical = (value: unknown): string =>
  value === undefined
    ? LAST
    : JSON.stringify(value, (_, inner: unknown) =>
        typeof inner === "object" && inner !== null && !Array.isArray(inner)
          ? Object.fromEntries(Object.entries(inner).sort(([x], [y]) => (x < y ? -1 : 1)))
          : inner,
      );
const LAST = "\uffff";
