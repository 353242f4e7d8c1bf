import { defined } from "#kit/defined.ts";
import type { ModelCall } from "../model/model-call.ts";
import type { EntryOf } from "../model/transcript.ts";

/** The model call that an entry reports. */
export function toModelCall(entry: EntryOf<"model_call">): ModelCall {
  return defined<ModelCall>({
    key: entry.key,
    responseId: entry.responseId,
    requestId: entry.requestId,
    model: entry.model,
    provider: entry.provider,
    requestedModel: entry.requestedModel,
    startMs: Math.min(entry.startMs ?? entry.timeMs, entry.endMs),
    endMs: entry.endMs,
    usage: entry.usage,
    complete: entry.complete,
    finishReason: entry.finishReason,
    asksForTools: entry.asksForTools,
    covers: entry.covers,
    coveredCalls: entry.coveredCalls,
    purpose: entry.purpose,
    tier: entry.tier,
    webSearches: entry.webSearches,
    hasOtherFees: entry.hasOtherFees,
    agentId: entry.agentId,
  });
}
