import { defined } from "#kit/objects.ts";
import type { Event } from "../model/event-schema.ts";
import type { ModelCall } from "../model/model-call.ts";
import type { ExportedSpan, ModelError, Segment, SessionContext } from "../model/session.ts";
import type { EntryOf, TranscriptEntry } from "../model/transcript.ts";
import { extrasOf } from "../rules/extras.lazy.ts";
import { isContinuation, openSegmentOf } from "../rules/segments.ts";
import { type Bin, firstMs } from "./bins.ts";
import type { PairedTool } from "./pair.ts";
import { NO_PROMPT } from "./prompts.ts";

/** A turn or subagent under construction. */
export interface Draft {
  readonly key: string;
  /** Start by the most reliable source; decides order and segment. */
  readonly orderMs: number;
  readonly startMs: number;
  readonly origin: "human" | "machine" | "none";
  /** It has a prompt, not only activity. */
  readonly hasPrompt: boolean;
  /** It continues a turn or subagent that is already settled. */
  readonly continues: boolean;
  /** The span of what it continues. */
  readonly exported?: ExportedSpan;
  readonly hasHookPrompt: boolean;
  /** Set when it continues something settled of a segment that is not exported. */
  readonly segment?: number;
  /** The segment of what it continues. */
  readonly settledSegment?: number;
  readonly promptLength?: number;
  readonly agentId?: string;
  readonly agentType?: string;
  readonly parentCallId?: string;
  readonly turnKey?: string;
  /** Calls of it were settled while it was open. */
  readonly hasParts?: boolean;
  /** What resumed a settled subagent, perhaps in a later segment. */
  readonly resumedBy?: { readonly turnKey?: string; readonly parentCallId?: string };
  readonly events: readonly Event[];
  readonly entries: readonly TranscriptEntry[];
  readonly modelCalls: readonly ModelCall[];
  readonly toolCalls: readonly PairedTool[];
  readonly errors: readonly ModelError[];
  readonly uses: readonly string[];
}

/** The turn of a bin, or what a settled turn continues with. */
export function turnDraft(key: string, bin: Bin, context: SessionContext): Draft {
  const settled = context.turns.get(key);
  const orderMs = bin.prompt?.timeMs ?? firstMs(bin) ?? settled?.endMs ?? 0;
  return defined<Draft>({
    ...commonParts(bin),
    key: partKey(key, settled),
    orderMs,
    startMs: orderMs,
    origin: key === NO_PROMPT ? "none" : bin.prompt?.origin === "machine" ? "machine" : "human",
    hasPrompt: bin.prompt !== undefined,
    // Activity without a prompt belongs to the segment in which it happened
    continues: settled !== undefined && key !== NO_PROMPT,
    exported: key === NO_PROMPT ? undefined : settled?.span,
    hasHookPrompt: bin.prompt?.hasHook === true,
    segment: key === NO_PROMPT ? undefined : openSegmentOf(settled?.span ?? settled, context),
    settledSegment: settled?.segment,
    promptLength: bin.prompt?.length,
    agentId: undefined,
    agentType: undefined,
    parentCallId: undefined,
    turnKey: undefined,
    uses: [...(bin.prompt?.uses ?? []), ...usesOf(bin)],
  });
}

/** The subagent of a bin, or what a settled one continues with. `turnKey`: the turn whose call started it, at any depth. */
export function subagentDraft(
  agentId: string,
  bin: Bin,
  parentCallId: string | undefined,
  turnKey: string | undefined,
  context: SessionContext,
): Draft {
  const settled = context.subagents.get(agentId);
  const startMs = firstMs(bin) ?? 0;
  const types = bin.events.map((e) => extrasOf(e).agent_type);
  const isResumed =
    bin.events.some(startsSubagent) || (settled?.parentCallId !== undefined && settled.parentCallId !== parentCallId);
  return defined<Draft>({
    ...commonParts(bin),
    key: partKey(agentId, settled),
    orderMs: startMs,
    startMs,
    origin: "none",
    hasPrompt: false,
    continues: settled !== undefined,
    exported: isResumed ? undefined : settled?.span,
    hasHookPrompt: false,
    segment: openSegmentOf(settled?.span ?? settled, context),
    settledSegment: settled?.segment,
    promptLength: undefined,
    hasParts: bin.settledStartMs !== undefined,
    agentId,
    agentType: bin.meta?.agentType ?? types.find((t) => t !== undefined && t !== "") ?? settled?.agentType,
    parentCallId,
    turnKey,
    uses: [...(bin.meta === undefined ? [] : [bin.meta.key]), ...usesOf(bin)],
  });
}

/** The key of a run without the number of a further part; keys of agents contain no tilde. */
export const baseKey = (key: string): string => key.replace(/~\d+$/, "");

/** The key of a run, or of a further part of a settled one. */
export const partKey = (key: string, settled: { readonly parts: number } | undefined): string =>
  settled === undefined ? key : `${key}~${settled.parts}`;

/** Whether it starts a subagent, or a session that is one. */
export const startsSubagent = ({ type }: Event): boolean => type === "subagent.start" || type === "session.start";

/** By time, then by key, so that the order does not depend on how facts arrived. */
export const byOrder = (a: Draft, b: Draft): number => a.orderMs - b.orderMs || (a.key < b.key ? -1 : 1);

/** The key of the exported span of what the draft continues. In a later segment, which is another trace, it gets a new span. */
export const exportedKeyOf = ({ exported }: Draft, segment: Segment | undefined): string | undefined =>
  exported !== undefined && exported.segment === segment?.ordinal ? exported.key : undefined;

/** Whether it continues something of the exported segment before a continuation. */
export const isLatePart = ({ settledSegment }: Draft, segment: Segment | undefined): true | undefined =>
  settledSegment !== undefined && segment !== undefined && isContinuation(segment) ? true : undefined;

// --- internal ---

/** The model call that an entry reports. */
function toModelCall(entry: EntryOf<"model_call">): ModelCall {
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
    isBeside: entry.besideResponseId === undefined ? undefined : true,
    purpose: entry.purpose,
    tier: entry.tier,
    webSearches: entry.webSearches,
    hasOtherFees: entry.hasOtherFees,
    nanoCredits: entry.nanoCredits,
    cacheMiss: entry.cacheMiss,
    agentId: entry.agentId,
  });
}

function commonParts(bin: Bin) {
  return {
    events: bin.events,
    entries: bin.entries,
    modelCalls: bin.calls.map(toModelCall).sort((a, b) => a.endMs - b.endMs || (a.key < b.key ? -1 : 1)),
    toolCalls: bin.toolCalls,
    errors: bin.entries
      .filter((e) => e.kind === "model_error")
      .map(({ timeMs, errorType, httpStatus, final }) => defined<ModelError>({ timeMs, errorType, httpStatus, final }))
      .sort((a, b) => a.timeMs - b.timeMs),
  };
}

const usesOf = (bin: Bin): readonly string[] => [
  ...bin.events.map((e) => e.id),
  ...bin.entries.map((e) => e.key),
  ...bin.calls.map((e) => e.key),
  ...bin.toolCalls.flatMap((t) => t.uses),
];
