import type { ModelCall } from "../model/model-call.ts";
import type { SessionInput, SettledTurn } from "../model/session.ts";
import { isLostCall, lostCallKey } from "../rules/calls.ts";
import { baseKey, type Draft } from "./drafts.ts";
import { NO_PROMPT } from "./prompts.ts";

/**
 * The model calls of a turn of an agent that writes a call after its tools. If it was killed in a tool, the call is added, without usage:
 * its prompt is in the transcript, and the tool's call is not. A request that failed was not lost.
 */
export function withLostCall(
  draft: Draft,
  input: SessionInput,
  end: "failed" | "killed" | "other",
): readonly ModelCall[] {
  const { modelCalls } = draft;
  if (end === "failed") return modelCalls.filter(({ key }) => !isLostCall(key));
  return end === "killed" ? [...modelCalls, ...lostCallOf(draft, input)] : modelCalls;
}

/** Whether a settled turn's prompt came from the transcript. */
export const isFromTranscript = ([key, { hookOnly }]: readonly [string, SettledTurn]): boolean =>
  key !== NO_PROMPT && hookOnly !== true;

// --- internal ---

function lostCallOf(draft: Draft, { facts, entries, context }: SessionInput): readonly ModelCall[] {
  const tool = draft.toolCalls.find(({ isUnwritten }) => isUnwritten === true);
  if (facts.writesAfterTools !== true || tool === undefined) return [];
  const turnKey = baseKey(draft.key);
  const settled = context.turns.get(turnKey);
  const isWritten =
    (settled !== undefined && isFromTranscript([turnKey, settled])) ||
    entries.some((e) => e.kind === "prompt" && (e.promptKey ?? e.key) === turnKey);
  if (!isWritten || draft.modelCalls.some(({ key }) => isLostCall(key))) return [];
  const { startMs } = tool;
  return [{ key: lostCallKey(draft.key), startMs, endMs: startMs, complete: false }];
}
