import type { TokenUsage } from "#core/model/transcript.ts";
import { asArray, asCode, asCount, asObject, asString, type Fields } from "../shared/payload/json.ts";
import { factBase, fieldsIn, type JournalLine, memberOf, withMember, without } from "./journal-state.ts";
import { toolUse } from "./tool-calls.ts";

/** A request to a model. */
export function modelRequest(line: JournalLine, request: Fields): void {
  const { state } = line;
  const actionId = asString(request["action_id"]);
  if (actionId !== undefined) state.asked = withMember(state.asked, [actionId, state.timeMs]);
  if (request["purpose"] !== "compaction") return;
  [state.compactionId, state.compaction] = [actionId, asCode(request["trigger"])];
}

/**
 * An answer. It is in the result of the request, which has no time, and again in the next step's input.
 *
 * @param isTimed whether the line is that input
 */
export function modelAnswer(line: JournalLine, event: Fields, { isTimed }: { readonly isTimed: boolean }): void {
  const { state, sink, of } = line;
  const actionId = asString(event["action_id"]);
  if (actionId === undefined) return;
  const startMs = memberOf(state.asked, actionId);
  if (isTimed) state.asked = without(state.asked, actionId);
  if (event["type"] !== "completion_succeeded") return;
  const result = fieldsIn(event, "result");
  const key = callKey(actionId);
  const parts = asArray(result["parts"]).map((part) => asObject(part) ?? {});
  const calls = parts.filter((part) => part["type"] === "tool_call");
  sink.modelCall(factBase(line, key, { timeMs: startMs ?? state.timeMs, globalKey: key }), {
    model: of.model,
    startMs,
    endMs: state.timeMs,
    usage: usageOf(fieldsIn(result, "usage")),
    complete: true,
    purpose: actionId === state.compactionId ? "compaction" : undefined,
    finishReason: asCode(result["finish_reason"]),
    asksForTools: calls.length > 0 ? true : undefined,
  });
  if (isTimed) for (const [place, call] of calls.entries()) toolUse(line, call, `${actionId}:${place}`);
}

const callKey = (actionId: string): string => `call:${actionId}`;

// --- internal ---

/** Input includes cached tokens, output includes reasoning. An answer without usage fails the turn. */
function usageOf(usage: Fields): TokenUsage | undefined {
  const [input, output] = [asCount(usage["input_tokens"]), asCount(usage["output_tokens"])];
  if (input === undefined && output === undefined) return undefined;
  return {
    input,
    output,
    cacheRead: asCount(usage["cached_input_tokens"]),
    cacheWrite: asCount(usage["cache_write_tokens"]),
    reasoning: asCount(usage["reasoning_tokens"]),
  };
}
