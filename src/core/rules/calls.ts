import type { ModelCall } from "../model/model-call.ts";
import type { TokenUsage, TranscriptEntry } from "../model/transcript.ts";

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
