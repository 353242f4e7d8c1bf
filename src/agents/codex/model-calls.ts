import type { FactOf } from "#core/model/fact-sink.ts";
import type { TokenUsage } from "#core/model/transcript.ts";
import { joinUsage } from "#core/rules/merge.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { type CountedCall, enterTurn, factBase, type LineContext, type LineState } from "./line-context.ts";
import { advance } from "./running-totals.ts";
import { completed, isSameUsage, usageOf } from "./usage.ts";

/**
 * `token_usage_record`: exact usage of one request, written when the answer is complete. Response ids come from the provider and
 * are not always unique: some local servers have only a few (Ollama) or one (Lemonade). The totals distinguish them.
 */
export function usageRecord(context: LineContext): void {
  const { p, state, sink } = context;
  state.isWaiting = undefined;
  state.hasRecords = true;
  enterTurn(state, p);
  state.recordedTurn = state.turnId;
  const responseId = asString(p["response_id"]);
  const usage = usageOf(p["usage"]);
  // The line of totals can precede the record of the same answer
  const counted = state.counted?.find(({ fact }) => isSameUsage(fact.usage, usage));
  if (counted !== undefined) {
    state.counted = state.counted?.filter((other) => other !== counted);
    sink.modelCall(counted.place, { ...counted.fact, responseId, usage: joinUsage(usage, counted.fact.usage) });
    return;
  }
  if (usage !== undefined) state.recorded = [...(state.recorded ?? []), usage].slice(-MAX_UNPAIRED);
  const totals = totalsKey(state, usageOf(p["thread_token_usage"]));
  const globalKey = responseId === undefined ? undefined : `response:${responseId}:${totals}`;
  const call = callOf(context, usage, { key: globalKey ?? totals, globalKey, responseId });
  sink.modelCall(call.place, call.fact);
  state.answer = undefined;
}

/**
 * `token_count`, for versions without records: totals of the thread, written several times, and after the tools of their answer.
 *
 * An older version can continue a thread that has records: then its usage is only in the totals.
 */
export function tokenCount(context: LineContext): void {
  const { p, state, sink } = context;
  const info = asObject(p["info"]);
  const before = state.series ?? [];
  const reported = usageOf(info?.["total_token_usage"]);
  const { total, last } = completed(reported, usageOf(info?.["last_token_usage"]), before.at(-1)?.total);
  // This total is incomplete, so the next one also includes the usage of this line's call
  if (reported !== undefined && total === undefined) state.isAfterGap = true;
  if (total === undefined) return;
  const seen = state.seenTotals ?? [];
  const text = `${total.input}:${total.output}`;
  // A third of the lines repeat the totals of the line before and add nothing
  if (text === seen.at(-1) && isSameUsage(before.at(-1)?.total, total)) {
    state.isAfterGap = undefined;
    return;
  }
  const isSeen = seen.includes(text);
  const step = advance(
    before,
    {
      total,
      last,
      lane: asString(asObject(p["rate_limits"])?.["limit_id"]),
      hasAnswer: state.answer !== undefined,
      isOpening: state.hasAnswered === undefined,
      isFork: state.isFork === true,
      isAfterGap: state.isAfterGap === true,
    },
    isSeen,
  );
  state.series = step.series;
  if (!isSeen) state.seenTotals = [...seen, text].slice(-MAX_SEEN);
  state.isAfterGap = undefined;
  const { used } = step;
  const isOlder = state.isOlderTurn === true && state.recordedTurn !== state.turnId && before.length > 0;
  const isRecorded = used !== undefined && removeRecorded(state, used);
  if (isRecorded || (state.hasRecords === true && !isOlder)) return;
  for (const { place, fact } of step.confirmed?.calls ?? []) sink.modelCall(place, fact);
  if (used === undefined || used.input + used.output === 0) return;
  // A counter that restarted can reach earlier totals again
  const key = `${totalsKey(state, total)}${isSeen ? ":again" : ""}`;
  // Copied lines keep the turn's id and the totals, which together identify the call
  const call = callOf(context, used, { key, globalKey: state.turnId === undefined ? undefined : key });
  state.answer = undefined;
  if (step.isDoubtful === true) {
    const [own, others] = [step.series.at(-1), step.series.slice(0, -1)];
    if (own !== undefined) state.series = [...others, { ...own, calls: [...(own.calls ?? []), call] }];
    return;
  }
  sink.modelCall(call.place, call.fact);
  state.counted = [...(state.counted ?? []), call].slice(-MAX_UNPAIRED);
}

// --- internal ---

/** Limit for calls that have only totals or only a record: answers that were cut off have no totals, older versions no records. */
const MAX_UNPAIRED = 16;
/** The number of totals that are remembered. It can be small: a repeated total is written soon after the first one. */
const MAX_SEEN = 128;

/** Whether a record with this usage precedes its line of totals. The record is then removed, because each matches one line. */
function removeRecorded(state: LineState, used: TokenUsage): boolean {
  const recorded = state.recorded ?? [];
  const index = recorded.findIndex((usage) => isSameUsage(usage, used));
  if (index < 0) return false;
  state.recorded = recorded.filter((_, other) => other !== index);
  return true;
}

const totalsKey = ({ turnId, threadId }: LineState, totals: TokenUsage | undefined): string =>
  `usage:${turnId ?? threadId}:${totals?.input}:${totals?.output}`;

interface CallIds {
  readonly key: string;
  readonly globalKey: string | undefined;
  readonly responseId?: string | undefined;
}

function callOf(
  { timeMs, state }: LineContext,
  usage: TokenUsage | undefined,
  { key, globalKey, responseId }: CallIds,
): CountedCall {
  const { answer, inputMs, model, provider, tier, searches } = state;
  const endMs = answer?.endMs ?? timeMs;
  const fact: FactOf<"model_call"> = {
    responseId,
    model,
    provider,
    startMs: Math.min(answer?.startMs ?? inputMs ?? endMs, endMs),
    endMs,
    usage,
    complete: true,
    asksForTools: answer?.asksForTools,
    tier,
    webSearches: searches,
  };
  state.searches = undefined;
  return { place: factBase({ timeMs: endMs, state }, key, globalKey), fact };
}
