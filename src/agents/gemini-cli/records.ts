// Record shapes from recordings of 0.61.0 and the source of 0.21.3 and 0.61.0, 2026-11-21; rules in README.md

import type { EntryOf, TokenUsage, TranscriptEntry } from "#core/model/transcript.ts";
import { sumKnown, withParts } from "#kit/numbers.ts";
import { defined } from "#kit/objects.ts";
import { textOf } from "../shared/gemini/tool-result.ts";
import { asArray, asCount, asObject, asString, asTimeMs, type Fields } from "../shared/payload/json.ts";
import { isContext, isProgramText } from "./adapter.ts";
import { type ChatState, entryBase, type MessageContext } from "./state.ts";
import { callEntries, uniqueCalls } from "./tools.ts";

interface Read {
  readonly entries: readonly TranscriptEntry[];
  readonly state: ChatState;
}

/** Entries of one message of a session file. Other kinds of messages have none. */
export function readMessage(o: Fields, state: ChatState, agentId: string | undefined): Read {
  const id = asString(o["id"]);
  if (id === undefined) return { entries: [], state };
  const timeMs = asTimeMs(o["timestamp"]) ?? state.timeMs;
  const context: MessageContext = { o, id, timeMs, state: { ...state, timeMs }, agentId };
  switch (o["type"]) {
    case "user":
      return userMessage(context);
    case "gemini":
      return answer(context);
    case "info":
      return { entries: /^Request cancelled\b/.test(textOf(o["content"]) ?? "") ? [interruption(context)] : [], state };
    case "error":
      return { entries: failure(context), state: context.state };
    default:
      return { entries: [], state };
  }
}

/**
 * A checkpoint of the program's history in memory. It ends a repetition of the history, and shows compactions. Its messages are
 * all repetitions, without tokens, and some have the ids of other messages.
 */
export function readCheckpoint(messages: unknown, state: ChatState, agentId: string | undefined): Read {
  const { repeating: _, ...kept } = state;
  const entries = asArray(messages).flatMap((message): TranscriptEntry[] => {
    const o = asObject(message) ?? {};
    const id = asString(o["id"]);
    if (id === undefined || !isCompactionMark(o)) return [];
    const timeMs = asTimeMs(o["timestamp"]) ?? state.timeMs;
    return [compaction({ o, id, timeMs, state: kept, agentId })];
  });
  return { entries, state: kept };
}

// --- internal ---

function userMessage(context: MessageContext): Read {
  const { o, id, timeMs, state, agentId } = context;
  const parts = Array.isArray(o["content"]) ? o["content"] : [o["content"]];
  const isResult = parts.some((part) => asObject(part)?.["functionResponse"] !== undefined);
  const own = parts.filter((part) => !/^<hook_context>/.test(textOf(part) ?? ""));
  const text = textOf(own);
  // After the first prompt, this message starts a repetition of the history, which a checkpoint ends
  const repeating = state.repeating === true || (isContext(text) && state.promptKey !== undefined);
  if (repeating) return { entries: [], state: { ...state, repeating: true } };
  const withInput = { ...state, inputMs: timeMs };
  if (agentId !== undefined) return refusals({ ...context, state: withInput }, parts);
  if (isResult || isProgramText(text)) return { entries: [], state: withInput };
  const next = { ...withInput, promptKey: id };
  const prompt = defined<EntryOf<"prompt">>({
    kind: "prompt",
    ...entryBase({ ...context, state: next }, `prompt:${id}`, `prompt:${id}`),
    origin: "human",
    length: text?.length,
  });
  return { entries: [prompt], state: next };
}

/** Calls of tools that a subagent does not have. Answers do not contain them, only the model's next input does. */
function refusals(context: MessageContext, parts: readonly unknown[]): Read {
  const refused = parts.flatMap((part): Fields[] => {
    const response = asObject(asObject(part)?.["functionResponse"]) ?? {};
    const error = asString(asObject(response["response"])?.["error"]) ?? "";
    return error.startsWith("Unauthorized tool call:") ? [{ ...response, status: "error" }] : [];
  });
  const { calls, given } = uniqueCalls(context, refused, true);
  return { entries: callEntries(context, calls), state: { ...context.state, ...given } };
}

/**
 * An answer is written when it is complete, and again each time one of its tool calls ends. Its tokens are those of one request.
 * An answer without tokens only has tool calls; if it has no model either, it belongs to no request.
 */
function answer(context: MessageContext): Read {
  const { o, id, timeMs, state } = context;
  if (isCompactionMark(o)) return { entries: [compaction(context)], state };
  const tokens = asObject(o["tokens"]);
  const model = asString(o["model"]);
  const isRequest = tokens !== undefined || (o["tokens"] === null && model !== undefined);
  const { calls, given } = uniqueCalls(context, asArray(o["toolCalls"]), isRequest);
  const call = defined<EntryOf<"model_call">>({
    kind: "model_call",
    ...entryBase(context, `answer:${id}`, `answer:${id}`),
    model,
    startMs: state.inputMs,
    endMs: timeMs,
    usage: tokens && usageOf(tokens),
    complete: true,
    asksForTools: calls.length > 0 ? true : undefined,
  });
  const { repeating: _, ...kept } = state;
  const tools = callEntries(context, calls);
  const endsMs = tools.filter((entry) => entry.kind === "tool_result").map((entry) => entry.timeMs);
  return {
    entries: isRequest ? [call, ...tools] : tools,
    state: {
      ...(isRequest ? kept : state),
      ...given,
      // Old files have no separate message for tool results
      ...(endsMs.length > 0 && { inputMs: Math.max(state.inputMs ?? 0, ...endsMs) }),
    },
  };
}

/**
 * `input` includes `cached`, `output` excludes `thoughts`, `tool` are tokens that built-in tools added. Where `thoughts` or
 * `tool` is missing, `total` shows whether there were any.
 */
function usageOf(tokens: Fields): TokenUsage | undefined {
  const [input, output] = [asCount(tokens["input"]), asCount(tokens["output"])];
  const [reasoning, tool] = [asCount(tokens["thoughts"]), asCount(tokens["tool"])];
  const [total, sum] = [asCount(tokens["total"]), sumKnown([input, output, reasoning, tool])];
  const hasMore = total !== undefined && sum !== undefined && total > sum;
  const counts = defined<TokenUsage>({
    input: hasMore && tool === undefined ? undefined : withParts(input, tool),
    output: hasMore && reasoning === undefined ? undefined : withParts(output, reasoning),
    cacheRead: asCount(tokens["cached"]),
    reasoning,
  });
  return Object.keys(counts).length === 0 ? undefined : counts;
}

/** The program's own answer after a summary of the history. */
const COMPACTION_MARK = "Got it. Thanks for the additional context!";

const isCompactionMark = (o: Fields): boolean =>
  o["type"] === "gemini" && asObject(o["tokens"]) === undefined && textOf(o["content"]) === COMPACTION_MARK;

const compaction = (context: MessageContext): TranscriptEntry => ({
  kind: "compaction",
  ...entryBase(context, `compaction:${context.id}`, `compaction:${context.id}`),
});

const interruption = (context: MessageContext): TranscriptEntry => ({
  kind: "interruption",
  ...entryBase(context, `interruption:${context.id}`, `interruption:${context.id}`),
});

/** Errors of the model. Only those in a terminal are recorded: a failed `-p` run has no record. */
function failure(context: MessageContext): readonly TranscriptEntry[] {
  const text = textOf(context.o["content"]) ?? "";
  if (!text.startsWith("[API Error:")) return [];
  const code = /\(Status: ([A-Z][A-Z_]{2,40})\)/.exec(text)?.[1];
  const status = /\b(?:status:?|code:?|"code":) ?"?([45]\d\d)\b/i.exec(text)?.[1];
  return [
    defined<EntryOf<"model_error">>({
      kind: "model_error",
      ...entryBase(context, `error:${context.id}`, `error:${context.id}`),
      errorType: code ?? status ?? "_OTHER",
      httpStatus: status === undefined ? undefined : Number(status),
      final: true,
    }),
  ];
}
