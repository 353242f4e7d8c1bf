import type { EntryOf, TranscriptEntry } from "./transcript.ts";

/**
 * Joins two readings of the same record (same key). Commutative, associative and idempotent, so that neither the
 * order of reading nor reading twice can change the result. Entries of different kinds: the first is kept.
 */
export function mergeEntries(a: TranscriptEntry, b: TranscriptEntry): TranscriptEntry {
  if (a.kind === "model_call" && b.kind === "model_call") return mergeModelCalls(a, b);
  if (a.kind === "reported_usage" && b.kind === "reported_usage") return totalOf(b) > totalOf(a) ? b : a;
  const [first, second] = isBefore(b, a) ? [b, a] : [a, b];
  return { ...second, ...defined(first) } as TranscriptEntry;
}

// --- internal ---

type ModelCall = EntryOf<"model_call">;

/** Agents write one record per content block; the output count only grows, and the last one knows how it finished. */
function mergeModelCalls(a: ModelCall, b: ModelCall): ModelCall {
  const fuller = compareFullness(a, b) >= 0 ? a : b;
  const [first, second] = isBefore(b, a) ? [b, a] : [a, b];
  const starts = [a.startMs, b.startMs].filter((ms) => ms !== undefined);
  const { usage, finishReason } = fuller;
  const { usage: _, finishReason: __, startMs: ___, ...rest } = { ...second, ...defined(first) } as ModelCall;
  return {
    ...rest,
    timeMs: Math.min(a.timeMs, b.timeMs),
    endMs: Math.max(a.endMs, b.endMs),
    complete: a.complete || b.complete,
    ...(starts.length > 0 && { startMs: Math.min(...starts) }),
    ...(usage && { usage }),
    ...(finishReason !== undefined && { finishReason }),
  };
}

/** Complete beats incomplete, then more output, then a stable order over the rest. */
function compareFullness(a: ModelCall, b: ModelCall): number {
  if (a.complete !== b.complete) return a.complete ? 1 : -1;
  const output = (a.usage?.output ?? -1) - (b.usage?.output ?? -1);
  if (output !== 0) return output;
  const [ja, jb] = [canonical(a), canonical(b)];
  return ja === jb ? 0 : ja > jb ? 1 : -1;
}

const canonical = (call: ModelCall): string =>
  JSON.stringify([call.finishReason ?? "", call.usage ? Object.entries(call.usage).sort() : []]);

function isBefore(a: TranscriptEntry, b: TranscriptEntry): boolean {
  if (a.timeMs !== b.timeMs) return a.timeMs < b.timeMs;
  return JSON.stringify(Object.entries(a).sort()) < JSON.stringify(Object.entries(b).sort());
}

const defined = <T extends object>(value: T): Partial<T> =>
  Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as Partial<T>;

const totalOf = (entry: EntryOf<"reported_usage">): number =>
  Object.values(entry.byModel).reduce((sum, usage) => sum + usage.input + usage.output, 0);
