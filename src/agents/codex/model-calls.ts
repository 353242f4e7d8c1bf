import type { TokenUsage } from "../../model/transcript.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { enterTurn, type LineContext, type LineState, placeOf } from "./line-context.ts";
import { difference, usageOf } from "./usage.ts";

/**
 * `token_usage_record`: one per request, written when the answer is complete; exact. Response ids are the provider's: local
 * servers pick from a few (Ollama) or use one for all (Lemonade). The totals distinguish them.
 */
export function usageRecord(context: LineContext): void {
  const { p, state } = context;
  state.isWaiting = undefined;
  state.hasRecords = true;
  enterTurn(state, p);
  state.recordedTurn = state.turnId;
  const responseId = asString(p["response_id"]);
  const totals = totalsKey(state, usageOf(p["thread_token_usage"]));
  const globalKey = responseId === undefined ? undefined : `response:${responseId}:${totals}`;
  modelCall(context, usageOf(p["usage"]), { key: globalKey ?? totals, globalKey, responseId });
}

/**
 * `token_count`, in versions without records: totals of the thread, written several times, and after the tools of their answer. A
 * call is the difference of two totals.
 *
 * An older version can continue a thread that has records: its usage only shows in the totals.
 */
export function tokenCount(context: LineContext): void {
  const { state } = context;
  const info = asObject(context.p["info"]);
  const totals = usageOf(info?.["total_token_usage"]);
  if (totals === undefined) return;
  const before = state.totals;
  state.totals = totals;
  const isOlder = state.isOlderTurn === true && state.recordedTurn !== state.turnId && before !== undefined;
  if (state.hasRecords === true && !isOlder) return;
  const last = usageOf(info?.["last_token_usage"]);
  // A fork's totals begin with those of the original thread, whose lines are missing here
  const inherited = state.isFork === true && last !== undefined ? difference(totals, last) : undefined;
  // Up to 0.63 a resumed session counts from zero, and its first answer can exceed all earlier totals
  const isAnew = last !== undefined && difference(totals, last) === undefined && !isEqual(totals, before);
  const usage = difference(totals, isAnew ? undefined : (before ?? inherited));
  if (usage === undefined) return;
  const key = totalsKey(state, totals);
  // Copies keep the turn's id and the totals, which together are unique
  modelCall(context, usage, { key, globalKey: state.turnId === undefined ? undefined : key });
}

// --- internal ---

const isEqual = (a: TokenUsage, b: TokenUsage | undefined): boolean => a.input === b?.input && a.output === b?.output;

const totalsKey = ({ turnId, threadId }: LineState, totals: TokenUsage | undefined): string =>
  `usage:${turnId ?? threadId}:${totals?.input}:${totals?.output}`;

interface Ids {
  readonly key: string;
  readonly globalKey: string | undefined;
  readonly responseId?: string | undefined;
}

function modelCall(
  { timeMs, state, sink }: LineContext,
  usage: TokenUsage | undefined,
  { key, globalKey, responseId }: Ids,
): void {
  const { answer, inputMs, model, provider } = state;
  const endMs = answer?.endMs ?? timeMs;
  sink.modelCall(placeOf({ timeMs: endMs, state }, key, globalKey), {
    responseId,
    model,
    provider,
    startMs: Math.min(answer?.startMs ?? inputMs ?? endMs, endMs),
    endMs,
    usage,
    complete: true,
    asksForTools: answer?.asksForTools,
  });
  state.answer = undefined;
}
