import { defined } from "../../model/defined.ts";
import type { EntryOf, TranscriptEntry } from "../../model/transcript.ts";
import { asArray, asCount, asObject, asString } from "../shared/payload/json.ts";
import {
  at,
  type Fields,
  type Here,
  type LineResult,
  type LineState,
  nothing,
  one,
  type Sums,
} from "./line-context.ts";
import { nextSums, plus, reportedSums, sessionSums, usageOf } from "./usage.ts";

/** One record per answered call, of the main agent and of subagents. */
export function usageRecord(here: Here): LineResult {
  const usage = asObject(here.data["usage"]) ?? {};
  const agentId = here.agentId ?? asString(usage["parentToolCallId"]);
  const id = asString(usage["apiCallId"]);
  const durationMs = asCount(usage["duration"]);
  const finishReason = asString(usage["finishReason"]);
  const toolCount = asCount(usage["numToolCalls"]);
  const key = accountingKey(usage) ?? `usage:${id ?? here.id}`;
  const entry = defined<EntryOf<"model_call">>({
    kind: "model_call",
    ...at({ ...here, agentId }, key, accountingKey(usage)),
    responseId: id,
    requestId: asString(usage["providerCallId"]),
    model: asString(usage["model"]),
    startMs: durationMs === undefined ? undefined : here.timeMs - durationMs,
    endMs: here.timeMs,
    usage: usageOf(usage),
    complete: true,
    finishReason,
    // Some servers finish with "stop" although the answer contains tool calls
    asksForTools: (toolCount === undefined ? finishReason === "tool_calls" : toolCount > 0) ? true : undefined,
  } as EntryOf<"model_call">);
  return { entries: [entry], state: { ...here.state, hasRecords: true } };
}

/** Versions without a record per call still write the answers; their tokens are only in the session's sums. */
export function assistantMessage(here: Here): LineResult {
  if (here.state.hasRecords === true) return nothing(here);
  const { data } = here;
  const id = asString(data["apiCallId"]);
  const key = `call:${id ?? asString(data["messageId"]) ?? here.id}`;
  const state = { ...here.state, answers: oneMore(here.state.answers, key) };
  return one(
    { ...here, state },
    defined<EntryOf<"model_call">>({
      kind: "model_call",
      ...at(here, key),
      // An answer in several lines has one key, so no line's id can be its global key
      globalKey: undefined,
      responseId: id,
      requestId: asString(data["requestId"]),
      model: asString(data["model"]),
      endMs: here.timeMs,
      complete: true,
      asksForTools: asArray(data["toolRequests"]).length > 0 ? true : undefined,
    } as EntryOf<"model_call">),
  );
}

/** Sums; if calls have records, they are only a cross-check. */
export function sums(here: Here): LineResult {
  const lineSums = reportedSums(here.data);
  if (lineSums === undefined) return nothing(here);
  const reported = (byModel: Sums): TranscriptEntry => ({
    kind: "reported_usage",
    ...at(here, "reported_usage"),
    byModel,
  });
  if (here.state.hasRecords === true) return one(here, reported(lineSums));
  const { answers, ...state } = here.state;
  const next = nextSums(here.data, lineSums, state.sums, answers?.count ?? 0);
  const all = plus(next.before, lineSums);
  return {
    entries: [...sessionSums(next.startMs, all, { ...at(here, ""), endMs: here.timeMs }), reported(all)],
    state: { ...state, sums: next },
  };
}

// --- internal ---

/**
 * The program's identity of a call: a number within its session, which a fork's copy keeps. The provider's id is not unique: local
 * servers pick theirs from a few hundred.
 */
function accountingKey(usage: Fields): string | undefined {
  const accounting = asObject(usage["accounting"]);
  const source = asString(accounting?.["sourceSessionId"]);
  const sequence = asCount(accounting?.["sequence"]);
  if (source === undefined || sequence === undefined) return undefined;
  return `usage:${source}:${sequence}:${asString(accounting?.["usageId"]) ?? ""}`;
}

const REMEMBERED_ANSWERS = 8;

function oneMore(answers: LineState["answers"], key: string): NonNullable<LineState["answers"]> {
  if (answers === undefined) return { count: 1, last: [key] };
  if (answers.last.includes(key)) return answers;
  return { count: answers.count + 1, last: [...answers.last.slice(1 - REMEMBERED_ANSWERS), key] };
}
