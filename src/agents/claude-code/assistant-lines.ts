import { TOKEN_KINDS } from "#core/model/token-kinds.ts";
import type { EntryOf, TokenUsage } from "#core/model/transcript.ts";
import { isSequenceNumber, repeatedCallId } from "#core/rules/call-ids.ts";
import { executableOf } from "../shared/names/executables.ts";
import { skillOf } from "../shared/names/skill.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { asArray, asCount, asObject, asString, ownOf } from "../shared/payload/json.ts";
import { feesOf } from "../shared/payload/server-tools.ts";
import { identifyAnswer } from "./answers-without-id.ts";
import {
  type CountedCall,
  factBase,
  type LastAnswer,
  type Line,
  type LineContext,
  type LineState,
  lineId,
} from "./line-context.ts";
import { sessionFacts } from "./session-facts.ts";
import { modelError } from "./system-lines.ts";
import { CALL_IDS_SINCE, globalCallId, rememberCounted } from "./tool-ids.ts";
import { separatePasses, tierOf, usageOf } from "./usage.ts";
import { writtenBefore, writtenSince } from "./version.ts";

/** A line with one block of an answer, and the usage of the whole answer. */
export function assistantLine(context: LineContext): void {
  const { o, state, timeMs, sink } = context;
  const message = asObject(o["message"]);
  if (message === undefined) return;
  sessionFacts(context);
  const model = asString(message["model"]);
  if (model === "<synthetic>") {
    modelError(context);
    return;
  }

  const requestId = asString(o["requestId"]);
  const inputMs = state.inputMs;
  const answer = answerOf(context, message, requestId);
  const { id, globalKey } = answer;
  const reported = asObject(message["usage"]);
  const usage = usageOf(reported);
  const now = lastAnswer(id, requestId, usage);
  const isRepeat = isRepeatedRequest(state.answer, now);
  const finishReason = asString(message["stop_reason"]);
  const startMs = ownOf(state.requests ?? NO_REQUESTS, asString(o["requestRef"])) ?? inputMs;
  const complete = finishReason !== undefined && !isIncomplete(o, message);
  const asksForTools = finishReason === "tool_use" ? true : undefined;
  const tier = tierOf(reported);
  const fees = isRepeat ? undefined : feesOf(reported);
  sink.modelCall(factBase(context, globalKey, globalKey), {
    responseId: id,
    requestId,
    model,
    requestedModel: asString(o["requestedModel"]),
    startMs,
    endMs: timeMs,
    usage: isRepeat ? undefined : usage,
    complete,
    finishReason,
    asksForTools,
    tier,
    webSearches: fees?.webSearches,
    hasOtherFees: fees?.hasOtherFees,
    cacheMiss: isRepeat ? undefined : cacheMissOf(message),
  });
  if (!isRepeat) {
    for (const pass of separatePasses(reported)) {
      const key = `${globalKey}:${pass.index}`;
      sink.modelCall(factBase(context, key, key), {
        besideResponseId: id,
        requestId,
        model: pass.model ?? model,
        startMs,
        endMs: timeMs,
        complete,
        asksForTools,
        usage: pass.usage,
        tier,
      });
    }
  }
  toolUses(context, message, answer);
  if (!isRepeat) state.answer = now;
}

// --- internal ---

const NO_REQUESTS: Readonly<Record<string, number>> = {};

/** An answer's id, if usable, and the keys of its facts. */
interface AnswerIds {
  readonly id: string | undefined;
  readonly globalKey: string;
  /** Identifies the answer, for call ids that are numbered per answer. */
  readonly scope: () => string;
}

function answerOf(context: LineContext, message: Line, requestId: string | undefined): AnswerIds {
  const { o, state, agentId } = context;
  const given = asString(message["id"]);
  const id = given !== undefined && isGeneratedId(given, o) ? undefined : given;
  const isUnique = id !== undefined && isUniqueAnswerId(id);
  if (id !== undefined && (requestId !== undefined || isUnique)) {
    return {
      id,
      globalKey: `response:${id}:${isUnique ? requestOf(state, id, requestId) : requestId}`,
      scope: () => (isUnique ? id : `${id}:${requestId}`),
    };
  }
  // Other servers of the same protocol can omit message ids
  const { name, known } = identifyAnswer(o, id, state.nameless ?? [], lineId(context), agentId);
  if (known.length > 0) state.nameless = known;
  return { id, globalKey: `answer:${name}`, scope: () => name };
}

/** Some lines of an answer have no request id: all of them are identified by the id in the first line, or by its absence. */
function requestOf(state: LineState, id: string, requestId: string | undefined): string {
  const known = state.requestOf?.findLast((answer) => answer.id === id);
  if (known !== undefined && (requestId === undefined || known.requestId === undefined)) return known.requestId ?? "";
  if (known?.requestId !== requestId || known === undefined) {
    const answer = { id, ...(requestId !== undefined && { requestId }) };
    state.requestOf = [...(state.requestOf ?? []).slice(1 - REMEMBERED_ANSWERS), answer];
  }
  return requestId ?? "";
}

/** More answers are never written at the same time. */
const REMEMBERED_ANSWERS = 8;

function toolUses(context: LineContext, message: Line, { scope }: AnswerIds): void {
  const { o, state, agentId, sink } = context;
  const counted: CountedCall[] = [];
  for (const block of asArray(message["content"])) {
    const b = asObject(block);
    if (b?.["type"] !== "tool_use") continue;
    const given = asString(b["id"]);
    const name = asString(b["name"]);
    if (given === undefined || name === undefined) continue;
    const isCounted = isSequenceNumber(given);
    const isJoinedByInput = writtenBefore(o, CALL_IDS_SINCE);
    const input = asObject(b["input"]);
    const callId = isCounted ? repeatedCallId(given, scope()) : given;
    if (isCounted) counted.push({ given, callId, ...(agentId !== undefined && { agentId }) });
    const fact = {
      callId,
      name,
      givenId: isCounted && !isJoinedByInput ? given : undefined,
      executable: executableOf(input?.["command"]),
      skill: skillOf(name, input),
      inputDigest: isJoinedByInput ? inputDigest(b["input"]) : undefined,
    };
    sink.toolUse(factBase(context, `use:${callId}`, `use:${globalCallId(given, scope)}`), fact, input);
  }
  rememberCounted(state, counted);
}

/** Present since 2.1.332; `null` while the server still compares, and if it found no difference. */
function cacheMissOf(message: Line): EntryOf<"model_call">["cacheMiss"] {
  const diagnosis = asObject(asObject(message["diagnostics"])?.["cache_miss_reason"]);
  const reason = asString(diagnosis?.["type"]);
  if (reason === undefined || !REASON.test(reason)) return undefined;
  const tokens = asCount(diagnosis?.["cache_missed_input_tokens"]);
  return { reason, ...(tokens !== undefined && { tokens }) };
}

const REASON = /^[a-z_]{1,40}$/;

const lastAnswer = (
  id: string | undefined,
  requestId: string | undefined,
  usage: TokenUsage | undefined,
): LastAnswer | undefined => {
  if (id === undefined || requestId === undefined) return undefined;
  const isReported = usage !== undefined && TOKEN_KINDS.some((kind) => (usage[kind] ?? 0) > 0);
  return isReported ? { id, requestId, usage } : { id, requestId };
};

/**
 * When a stream is interrupted, 2.1.120 repeats the request without streaming, and writes the request id and figures of the
 * second answer into the lines of the first.
 */
const isRepeatedRequest = (before: LastAnswer | undefined, now: LastAnswer | undefined): boolean =>
  before !== undefined &&
  before.requestId === now?.requestId &&
  before.id !== now.id &&
  TOKEN_KINDS.every((kind) => before.usage?.[kind] === now.usage?.[kind]);

/** Whether Claude Code generated the id: a fork does so for each copied block if the server sent no id. */
const isGeneratedId = (id: string, o: Line): boolean =>
  o["requestId"] === undefined && asString(o["requestRef"]) !== undefined && UUID.test(id);
const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/;

/**
 * Whether the id can identify an answer: it contains a random part or a time. Some relays use one id for all answers (`ocgo`,
 * ccusage issue 1635), or number them.
 */
const isUniqueAnswerId = (id: string): boolean =>
  (id.match(/[A-Za-z0-9]{10,}/g) ?? []).some((letters) => /\d/.test(letters));

/** From this version on, every `stop_reason` that the server sent has details, possibly null. */
const DETAILS_SINCE = "2.1.150";

/**
 * Whether an answer's stream was interrupted. 2.1.197 and later write a `stop_reason` for it too, with the output count of its
 * beginning, but without details. An answer that was not streamed can have no details either, but has all blocks in one line.
 * Lines of other programs have no `iterations`, which Claude Code always writes.
 */
const isIncomplete = (o: Line, message: Line): boolean =>
  message["stop_details"] === undefined &&
  asObject(message["usage"])?.["iterations"] !== undefined &&
  writtenSince(o, DETAILS_SINCE) &&
  asArray(message["content"]).filter((block) => asObject(block) !== undefined).length < 2;
