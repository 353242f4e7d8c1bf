// From files of 0.20.2 to 0.35.3 and the source of 0.20.2, 2026-11-22: chatRecordingService.ts, local-invocation.ts

import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import { defined } from "#kit/objects.ts";
import { textOf } from "../shared/gemini/tool-result.ts";
import { asArray, asObject, asString, asTimeMs, type Fields, parsedObject } from "../shared/payload/json.ts";
import { elementsOf } from "../shared/transcript/elements.ts";
import { readMessage } from "./records.ts";
import { type ChatState, entryBase, type MessageContext } from "./state.ts";
import { callEntries } from "./tools.ts";

/** A subagent without a separate file. */
interface InlineSubagent {
  readonly callId: string;
  /** Time of its task, if the file contains its task and answers between the lines of the agent that started it. */
  readonly taskMs: number | undefined;
  readonly untilMs: number;
}

/** The inline subagents of a file that is one object. Each started with a call, which the file has after the subagent's messages. */
export async function inlineSubagentsIn(
  path: string,
  roots: readonly string[] | undefined,
): Promise<readonly InlineSubagent[]> {
  const calls: { readonly callId: string; readonly requestedMs: number; readonly untilMs: number }[] = [];
  const usersMs: number[] = [];
  for await (const element of elementsOf(path, "messages", { roots })) {
    if (element === undefined || !MARKS.some((mark) => element.includes(mark))) continue;
    const message = parsedObject(element) ?? {};
    if (message["type"] === "user") usersMs.push(asTimeMs(message["timestamp"]) ?? 0);
    for (const call of asArray(message["toolCalls"]).map((value) => asObject(value) ?? {})) {
      const [one] = requestedCalls([call]);
      if (one !== undefined && isOfSubagent(call)) calls.push({ ...one, untilMs: one.endMs });
    }
  }
  return calls.map(({ callId, requestedMs, untilMs }) => ({
    callId,
    taskMs: usersMs.find((ms) => ms > requestedMs && ms < untilMs),
    untilMs,
  }));
}

/** Time of a message, and whether it is an answer. */
interface MessageTime {
  readonly timeMs: number;
  readonly isAnswer: boolean;
}

/**
 * Reads a message of a file that is one object. Up to 0.28 an answer without text has no message: its calls are attached to the
 * last answer with text, even another agent's, and its tokens are lost. The call ids contain the time of the answer.
 *
 * @param messageTimes the times of all messages so far; the message's time is added
 */
export function readMerged(
  o: Fields,
  state: ChatState,
  agentId: string | undefined,
  { subagents, messageTimes }: { readonly subagents: readonly InlineSubagent[]; readonly messageTimes: MessageTime[] },
) {
  const timeMs = asTimeMs(o["timestamp"]) ?? state.timeMs;
  if (o["type"] === "user") messageTimes.push({ timeMs, isAnswer: false });
  const own = asObject(o["tokens"]) === undefined ? undefined : { timeMs, isAnswer: true };
  if (own !== undefined) messageTimes.push(own);
  const subagentOf = (call: Fields): InlineSubagent | undefined =>
    subagents.find(({ callId }) => callId === call["id"]);
  const calls = asArray(o["toolCalls"]).map((value): Fields => {
    const call = asObject(value) ?? {};
    return subagentOf(call) === undefined ? call : { ...call, agentId: call["id"] };
  });
  const message = calls.length === 0 ? o : { ...o, toolCalls: calls };
  const context = (next: ChatState): MessageContext => ({
    o,
    id: asString(o["id"]) ?? "",
    timeMs,
    state: next,
    agentId,
  });
  const lostAnswers = (next: ChatState): readonly TranscriptEntry[] => [
    ...callsByAnswer(calls).flatMap((group) =>
      hasAnswerMessage(group, messageTimes, own) ? [] : [lostAnswer(context(next), group[0])],
    ),
    ...calls.flatMap((call) => {
      const subagent = subagentOf(call);
      return subagent === undefined || subagent.taskMs !== undefined
        ? []
        : [
            lostAnswer(
              { ...context(next), agentId: subagent.callId },
              { callId: subagent.callId, requestedMs: subagent.untilMs },
            ),
          ];
    }),
  ];
  const subagentId = subagents.find(
    ({ taskMs, untilMs }) => taskMs !== undefined && timeMs >= taskMs && timeMs < untilMs,
  )?.callId;
  if (subagentId === undefined) {
    const { entries, state: next } = readMessage(message, state, agentId);
    return { message, entries, lostAnswers: lostAnswers(next), state: next };
  }
  // The file has no calls of such a subagent: these are the main agent's
  const { toolCalls: _, ...withoutCalls } = o;
  const { entries, state: next } = readMessage(withoutCalls, state, subagentId);
  const tools = callEntries(context(next), calls);
  const endsMs = tools.filter((entry) => entry.kind === "tool_result").map((entry) => entry.timeMs);
  return {
    message,
    entries: [...entries, ...tools],
    lostAnswers: lostAnswers(next),
    state: { ...next, ...(endsMs.length > 0 && { inputMs: Math.max(next.inputMs ?? 0, ...endsMs) }) },
  };
}

// --- internal ---

/** The result that the model receives when a subagent ended. */
const SUBAGENT_ENDED = /^Subagent '[^']*' (?:finished|failed)\b/;
const MARKS = ["Subagent '", '"user"'];

function isOfSubagent(call: Fields): boolean {
  if (call["agentId"] !== undefined) return false;
  return asArray(call["result"]).some((part) => {
    const response = asObject(asObject(asObject(part)?.["functionResponse"])?.["response"]);
    return SUBAGENT_ENDED.test(textOf(response?.["output"] ?? response?.["error"]) ?? "");
  });
}

interface RequestedCall {
  readonly callId: string;
  readonly requestedMs: number;
  readonly endMs: number;
}

/** Ids contain the time of the answer: `<tool>-<epoch ms>-<random>`, later `<tool>_<epoch ms>_<n>`. Others are skipped. */
const requestedCalls = (calls: readonly Fields[]): readonly RequestedCall[] =>
  calls.flatMap((call): readonly RequestedCall[] => {
    const callId = asString(call["id"]);
    const requestedMs = Number(/[-_](1\d{12})[-_][0-9a-f]+$/.exec(callId ?? "")?.[1]);
    const endMs = asTimeMs(call["timestamp"]);
    return callId === undefined || Number.isNaN(requestedMs) || endMs === undefined
      ? []
      : [{ callId, requestedMs, endMs }];
  });

/** Groups calls by answer: the model answers again only after all calls of the previous answer ended. */
function callsByAnswer(calls: readonly Fields[]): readonly (readonly [RequestedCall, ...RequestedCall[]])[] {
  const groups: [RequestedCall, ...RequestedCall[]][] = [];
  for (const one of [...requestedCalls(calls)].sort((a, b) => a.requestedMs - b.requestedMs)) {
    const last = groups.at(-1);
    if (last?.every(({ endMs }) => one.requestedMs < endMs)) last.push(one);
    else groups.push([one]);
  }
  return groups;
}

/**
 * A complete answer is written after its calls got their ids, before any other message and before the calls end. An answer that
 * only has thoughts is written together with its calls, when they end.
 */
function hasAnswerMessage(
  group: readonly [RequestedCall, ...RequestedCall[]],
  messageTimes: readonly MessageTime[],
  own: MessageTime | undefined,
): boolean {
  const endMs = Math.min(...group.map((one) => one.endMs));
  const next = messageTimes.find(({ timeMs }) => timeMs >= group[0].requestedMs - ROUNDED_MS);
  return next?.isAnswer === true && (next.timeMs <= endMs || next === own);
}

/** The time in the id and the message's time can differ by this much. */
const ROUNDED_MS = 2;

/** An answer without a message, known only from its calls or its subagent's last message: its usage is unknown. */
const lostAnswer = (
  context: MessageContext,
  { callId, requestedMs }: Pick<RequestedCall, "callId" | "requestedMs">,
): TranscriptEntry =>
  defined<EntryOf<"model_call">>({
    kind: "model_call",
    ...entryBase(
      { ...context, timeMs: requestedMs },
      `lost:${context.agentId ?? ""}:${callId}`,
      `lost:${context.id}:${callId}`,
    ),
    model: asString(context.o["model"]),
    endMs: requestedMs,
    complete: true,
    asksForTools: context.agentId === callId ? undefined : true,
  });
