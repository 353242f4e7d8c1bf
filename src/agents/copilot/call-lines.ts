import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import { defined } from "#kit/objects.ts";
import { asArray, asCount, asObject, asString, type Fields } from "../shared/payload/json.ts";
import { entryBase, type LineContext, type LineResult, noEntries, oneEntry, type Sums } from "./line-context.ts";
import { withAnswer, withSums } from "./run-sums.ts";
import { reportedSums, usageOf } from "./usage.ts";

/** One record per answered model call of the main agent or a subagent. */
export function usageRecord(context: LineContext): LineResult {
  if (context.state.isInDatabase === true) return noEntries(context);
  const usage = asObject(context.data["usage"]) ?? {};
  const agentId = context.agentId ?? asString(usage["parentToolCallId"]);
  const id = asString(usage["apiCallId"]);
  const durationMs = asCount(usage["duration"]);
  const finishReason = asString(usage["finishReason"]);
  const toolCount = asCount(usage["numToolCalls"]);
  const key = accountingKey(usage) ?? `usage:${id ?? context.id}`;
  const entry = defined<EntryOf<"model_call">>({
    kind: "model_call",
    ...entryBase({ ...context, agentId }, key, accountingKey(usage)),
    responseId: id,
    requestId: asString(usage["providerCallId"]),
    model: asString(usage["model"]),
    startMs: durationMs === undefined ? undefined : context.timeMs - durationMs,
    endMs: context.timeMs,
    usage: usageOf(usage),
    complete: true,
    finishReason,
    // Some servers finish with "stop" although the answer contains tool calls
    nanoCredits: asCount(asObject(usage["copilotUsage"])?.["totalNanoAiu"]),
    asksForTools: (toolCount === undefined ? finishReason === "tool_calls" : toolCount > 0) ? true : undefined,
  });
  return { entries: [entry], state: { ...context.state, hasRecords: true } };
}

/** For versions without a record per call: they write the answers, some with their output, but input only in sums. */
export function assistantMessage(context: LineContext): LineResult {
  if (context.state.hasRecords === true) return noEntries(context);
  const { data } = context;
  const id = asString(data["apiCallId"]);
  const key = `call:${id ?? asString(data["messageId"]) ?? context.id}`;
  const answer = defined<EntryOf<"model_call">>({
    kind: "model_call",
    ...entryBase(context, key),
    // An answer can have several lines, so the id of one line cannot be its global key
    globalKey: undefined,
    responseId: id,
    requestId: asString(data["requestId"]),
    model: asString(data["model"]),
    endMs: context.timeMs,
    complete: true,
    asksForTools: asArray(data["toolRequests"]).length > 0 ? true : undefined,
  });
  const { entries, state } = withAnswer(context, key);
  return { entries: [answer, ...entries], state };
}

/** Sums; if calls have records, they are only a cross-check. */
export function sums(context: LineContext): LineResult {
  const { entries, state } = sumEntries(context);
  return { entries: [...entries, ...contextParts(context)], state };
}

// --- internal ---

/** A shutdown says what the context consisted of then. */
function contextParts(context: LineContext): readonly TranscriptEntry[] {
  const { systemTokens, toolDefinitionsTokens, conversationTokens } = context.data;
  const [system, tools, conversation] = [systemTokens, toolDefinitionsTokens, conversationTokens].map(asCount);
  if (system === undefined || tools === undefined || conversation === undefined) return [];
  return [
    { kind: "session", ...entryBase(context, `context:${context.id}`), contextParts: { system, tools, conversation } },
  ];
}

function sumEntries(context: LineContext): LineResult {
  const lineSums = reportedSums(context.data);
  if (lineSums === undefined) return noEntries(context);
  const reported = (byModel: Sums): TranscriptEntry => ({
    kind: "reported_usage",
    ...entryBase(context, "reported_usage"),
    byModel,
  });
  if (context.state.hasRecords === true) return oneEntry(context, reported(lineSums));
  const { entries, all, state } = withSums(context, lineSums);
  return { entries: [...entries, reported(all)], state };
}

/**
 * The program's id of a call: a number within its session, which a fork's copy keeps. The provider's id is not unique: local
 * servers choose theirs from a few hundred.
 */
function accountingKey(usage: Fields): string | undefined {
  const accounting = asObject(usage["accounting"]);
  const source = asString(accounting?.["sourceSessionId"]);
  const sequence = asCount(accounting?.["sequence"]);
  if (source === undefined || sequence === undefined) return undefined;
  return `usage:${source}:${sequence}:${asString(accounting?.["usageId"]) ?? ""}`;
}
