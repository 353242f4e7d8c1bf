import type { KnownCall } from "../model/model-call.ts";
import { TOKEN_KINDS } from "../model/token-kinds.ts";
import type { EntryOf, TokenUsage, TranscriptEntry } from "../model/transcript.ts";

// An agent can remove calls from its transcript, for example when the user goes back to a checkpoint, and record the sum of their
// usage in their place. Some of these calls may have been read before. Only the rest of the sum is new.

/**
 * Reduces sums over removed calls by the calls that are known from earlier readings. A sum of which nothing is left is dropped.
 *
 * Pure. The order of entries makes no difference. Other entries are unchanged.
 *
 * @param counted calls that were counted before and are not among the entries
 */
export function withoutKnownCalls(
  entries: readonly TranscriptEntry[],
  counted: Iterable<KnownCall> = [],
): readonly TranscriptEntry[] {
  const sums = entries.filter(isSumOfRemoved).sort((a, b) => a.endMs - b.endMs || (a.key < b.key ? -1 : 1));
  if (sums.length === 0) return entries;
  const known: KnownCall[] = [
    ...counted,
    ...entries.filter((entry) => entry.kind === "model_call").filter((call) => !isSumOfRemoved(call)),
  ];
  const rests = new Map<string, Call | undefined>();
  // The earliest first: a later sum can cover an earlier one
  for (const sum of sums) {
    const rest = restOf(sum, known);
    rests.set(sum.key, rest);
    if (rest !== undefined) known.push(rest);
  }
  return entries.flatMap((entry): readonly TranscriptEntry[] =>
    isSumOfRemoved(entry) ? [rests.get(entry.key) ?? []].flat() : [entry],
  );
}

/** Whether a call is one of those that a sum covers, by its agent and time: a sum has the calls of one agent. */
export const isCoveredBy = (call: KnownCall, sum: KnownCall): boolean => {
  const ms = call.covers === "removed" ? call.endMs : (call.startMs ?? call.timeMs ?? call.endMs);
  return call.key !== sum.key && call.agentId === sum.agentId && ms > (sum.startMs ?? sum.endMs) && ms < sum.endMs;
};

// --- internal ---

type Call = EntryOf<"model_call">;

const isSumOfRemoved = (entry: TranscriptEntry): entry is Call =>
  entry.kind === "model_call" && entry.covers === "removed";

function restOf(sum: Call, known: readonly KnownCall[]): Call | undefined {
  const covered = known.filter((call) => isCoveredBy(call, sum));
  const { usage } = sum;
  if (covered.length === 0 || usage === undefined) return sum;
  const rest: { -readonly [K in keyof TokenUsage]: TokenUsage[K] } = { ...usage };
  for (const kind of TOKEN_KINDS) {
    const before = usage[kind];
    if (before === undefined) continue;
    rest[kind] = Math.max(0, before - covered.reduce((all, call) => all + (call.usage?.[kind] ?? 0), 0));
  }
  // Every call has output, so if all output is known, all calls are known, even if the sum's input differs
  const isKnown = usage.output ? rest.output === 0 : !rest.input;
  return isKnown ? undefined : { ...sum, usage: rest };
}
