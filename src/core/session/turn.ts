import { maxOf, minOf } from "#kit/numbers.ts";
import { defined } from "#kit/objects.ts";
import type { ModelCall } from "../model/model-call.ts";
import type { Segment, SessionInput, SettledTurn, Turn } from "../model/session.ts";
import { isLostCall, lastCallOf, lostCallKey } from "../rules/calls.ts";
import { timeMsOf } from "../rules/event.ts";
import { extrasOf } from "../rules/extras.lazy.ts";
import { baseKey, type Draft, exportedKeyOf, isLatePart } from "./drafts.ts";
import { finishTool, isLeftOpen } from "./pair.ts";
import { NO_PROMPT } from "./prompts.ts";

/** @param isSuperseded the agent has started to work on a later prompt */
export function toTurn(draft: Draft, segment: Segment | undefined, isSuperseded: boolean, input: SessionInput): Turn {
  const signals = endSignals(draft);
  const { ended, failed, interrupted } = signals;
  const closed = isClosed(signals, segment, isSuperseded, input);
  const end = failed ? "failed" : closed && !ended && !interrupted ? "killed" : "other";
  const modelCalls = withLostCall(draft, input, end);
  const toolCalls = draft.toolCalls.map((tool) => finishTool(tool, closed, segment?.endMs));
  return defined<Turn>({
    key: draft.key,
    origin: draft.continues ? "continuation" : draft.origin,
    segment: segment?.ordinal ?? 0,
    state: stateOf(signals, closed, isSuperseded || hasNormalEnd(segment), input),
    errorType: interrupted ? "interrupted" : failed ? (signals.errorType ?? "_OTHER") : undefined,
    promptLength: draft.promptLength,
    hasHookPrompt: draft.hasHookPrompt,
    backgroundCount: draft.events.reduce((n, e) => Math.max(n, extrasOf(e).background_count ?? 0), 0),
    startMs: minOf(
      [...toolCalls, ...modelCalls].map(({ startMs }) => startMs),
      draft.orderMs,
    ),
    endMs: maxOf([
      draft.orderMs,
      ...toolCalls.map((t) => t.endMs),
      ...modelCalls.map((c) => c.endMs),
      ...draft.events.map(timeMsOf),
      ...draft.entries.filter((e) => !isLeftOpen(e)).map((e) => e.timeMs),
    ]),
    modelCalls,
    toolCalls,
    errors: draft.errors,
    closed,
    uses: draft.uses,
    exportedKey: exportedKeyOf(draft, segment),
    isLate: isLatePart(draft, segment),
  });
}

/**
 * The model calls of a turn of an agent that writes a call after its tools. If it was killed in a tool, the call is added, without usage:
 * its prompt is in the transcript, and the tool's call is not. A request that failed was not lost.
 */
function withLostCall(draft: Draft, input: SessionInput, end: "failed" | "killed" | "other"): readonly ModelCall[] {
  const { modelCalls } = draft;
  if (end === "failed") return modelCalls.filter(({ key }) => !isLostCall(key));
  return end === "killed" ? [...modelCalls, ...lostCallOf(draft, input)] : modelCalls;
}

/** Whether a settled turn's prompt came from the transcript. */
export const isFromTranscript = ([key, { hookOnly }]: readonly [string, SettledTurn]): boolean =>
  key !== NO_PROMPT && hookOnly !== true;

// --- internal ---

/** What the facts of a turn say about its end. */
interface EndSignals {
  readonly ended: boolean;
  readonly failed: boolean;
  readonly interrupted: boolean;
  /** Of the error that ended it. */
  readonly errorType: string | undefined;
  readonly hasFinalAnswer: boolean;
  readonly hasOpenCall: boolean;
  readonly continuesAfterError: boolean;
}

function endSignals({ modelCalls, toolCalls, events, entries, errors }: Draft): EndSignals {
  const lastCall = lastCallOf(modelCalls);
  // An error before a complete answer did not end the turn: the request was, for example, shortened and retried
  const answeredMs = lastCall?.complete === true && lastCall.covers === undefined ? lastCall.startMs : 0;
  const failure = events.find((e) => e.type === "turn.error" && timeMsOf(e) >= answeredMs);
  const finalError = errors.findLast((e) => e.final);
  const interruption = entries.findLast((e) => e.kind === "interruption");
  const hasEndEntry = entries.some((e) => e.kind === "turn_end");
  return {
    ended: hasEndEntry || events.some((e) => e.type === "turn.end"),
    failed: failure !== undefined || (finalError !== undefined && finalError.timeMs >= (lastCall?.endMs ?? 0)),
    interrupted:
      (interruption !== undefined && interruption.timeMs >= (lastCall?.startMs ?? 0)) ||
      (failure !== undefined && extrasOf(failure).error_type === "interrupted"),
    errorType: finalError?.errorType ?? (failure && extrasOf(failure).error_type),
    hasFinalAnswer: hasEndEntry || (lastCall?.complete === true && lastCall.asksForTools !== true),
    hasOpenCall: toolCalls.some((tool) => tool.status === "open"),
    // After a broken stream the agent still runs the tool, then retries
    continuesAfterError:
      failure === undefined && toolCalls.some((tool) => tool.endMs > (finalError?.timeMs ?? Infinity)),
  };
}

function isClosed(
  { ended, failed, hasFinalAnswer, hasOpenCall, continuesAfterError }: EndSignals,
  segment: Segment | undefined,
  isSuperseded: boolean,
  { expectsTranscript }: SessionInput,
): boolean {
  if (segment?.endMs !== undefined || isSuperseded) return true;
  const finished = !hasOpenCall && ((failed && !continuesAfterError) || !expectsTranscript || hasFinalAnswer);
  return (ended || failed) && finished;
}

const hasNormalEnd = (segment: Segment | undefined): boolean =>
  segment?.reason === "completed" || segment?.reason === "user_exit";

function stateOf(
  { ended, failed, interrupted, hasFinalAnswer, hasOpenCall }: EndSignals,
  closed: boolean,
  endedNormally: boolean,
  { facts }: SessionInput,
): Turn["state"] {
  if (interrupted) return "interrupted";
  if (failed) return "failed";
  if (ended) return "ended";
  const isImpliedEnd = closed && endedNormally && facts.reportsNoTurnEnds === true;
  if (!hasOpenCall && (hasFinalAnswer || isImpliedEnd)) return "ended";
  return closed ? "unfinished" : "open";
}

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
