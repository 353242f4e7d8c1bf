import type { KnownCall, ModelCall } from "../model/model-call.ts";
import { TOKEN_KINDS } from "../model/token-kinds.ts";
import type { EntryOf, TokenUsage, TranscriptEntry } from "../model/transcript.ts";

type Counted = Pick<ModelCall, "covers" | "coveredCalls">;

interface Run {
  readonly modelCalls: readonly Counted[];
  readonly settled?: { readonly sums: { readonly modelCalls: number; readonly aggregateRecords: number } };
}

/** How many calls a record is of; `undefined` if it is a sum and the agent does not say of how many. */
export const callsIn = ({ covers, coveredCalls }: Counted): number | undefined =>
  covers === undefined ? 1 : coveredCalls;

/**
 * How many model calls a run made, with those that were settled while it was open; `undefined` if one of its records is a
 * sum over an unknown number.
 */
export function callCountOf({ modelCalls, settled }: Run): number | undefined {
  const counts = modelCalls.map(callsIn);
  if (counts.includes(undefined) || (settled?.sums.aggregateRecords ?? 0) > 0) return undefined;
  return counts.reduce<number>((sum, count = 0) => sum + count, settled?.sums.modelCalls ?? 0);
}

/** Whether a call is not one of the conversation: a request that the agent makes for itself, or a separate pass of an answer. */
export const isAside = ({ purpose, isBeside }: Pick<ModelCall, "purpose" | "isBeside">): boolean =>
  purpose !== undefined || isBeside === true;

/** Whether it has the tokens of one call. Sums over several calls are used only where single calls are unknown. */
export const isSingleCall = (entry: TranscriptEntry): boolean =>
  entry.kind === "model_call" && entry.covers === undefined && entry.usage !== undefined;

/** The last call, or sum of calls. Usage of an unknown meaning does not say how a run went on or ended. */
export const lastCallOf = <T extends Pick<ModelCall, "covers">>(calls: readonly T[]): T | undefined =>
  calls.findLast(({ covers }) => covers !== "unknown");

// Some agents write a model call after its tools have ended, so it is missing if they are killed in a tool

const PREFIX = "lost:";

/** Key of the call that was lost in a turn, in a subagent, or in the helper that a tool call started. @param of its id */
export const lostCallKey = (of: string): string => `${PREFIX}${of}`;

export const isLostCall = (key: string): boolean => key.startsWith(PREFIX);

/** What `lostCallKey` was called with. */
export const lostCallIn = (key: string): string => key.slice(PREFIX.length);

/** Whether both input and output are known. */
export const isWholeUsage = (
  usage: TokenUsage | undefined,
): usage is TokenUsage & { readonly input: number; readonly output: number } =>
  usage?.input !== undefined && usage.output !== undefined;

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
