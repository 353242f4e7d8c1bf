// Form of chat sessions: microsoft/vscode (chatSessionOperationLog.ts; extensions/copilot: conversation.ts, toolCallRound.ts,
// defaultIntentRequestHandler.ts), read 2026-11-26; not recorded

import type { EntryOf, TokenUsage, TranscriptEntry } from "#core/model/transcript.ts";
import { defined } from "#kit/objects.ts";
import { asArray, asCount, asObject, asString, type Fields, objectsIn } from "../shared/payload/json.ts";

/** The requests of one session, by the id that hooks send. */
interface Chat {
  readonly sessionId: string;
  readonly requests: readonly Fields[];
}

/**
 * The sessions in a file. The extension that answers has an id for its conversation, which hooks send and its results
 * have; it can differ from the file's, and change when the window is loaded again.
 */
export function chatsIn(file: Fields, fileId: string): readonly Chat[] {
  const chats = new Map<string, Fields[]>();
  const requests = objectsIn(file["requests"]);
  const first = requests.map(conversationOf).find((id) => id !== undefined);
  let current = first ?? fileId;
  for (const request of requests) {
    current = conversationOf(request) ?? current;
    chats.set(current, [...(chats.get(current) ?? []), request]);
  }
  return [...chats].map(([sessionId, own]) => ({ sessionId, requests: own }));
}

/** Prompts and model calls of a session. Tool calls come from hooks only: the file does not say how they ended. */
export function entriesOf({ requests }: Chat, cwd: string | undefined): readonly TranscriptEntry[] {
  const startMs = requests.map((request) => asCount(request["timestamp"])).find((ms) => ms !== undefined);
  const entries: TranscriptEntry[] = [];
  if (startMs !== undefined) {
    entries.push({ kind: "session", key: "session", timeMs: startMs, ...(cwd !== undefined && { cwd }) });
  }
  for (const request of requests) entries.push(...requestEntries(request));
  return entries;
}

// --- internal ---

const metadataOf = (request: Fields): Fields | undefined => asObject(asObject(request["result"])?.["metadata"]);

const conversationOf = (request: Fields): string | undefined => asString(metadataOf(request)?.["sessionId"]);

function requestEntries(request: Fields): readonly TranscriptEntry[] {
  const id = asString(request["requestId"]);
  const timeMs = asCount(request["timestamp"]);
  if (id === undefined || timeMs === undefined || !isCopilots(request)) return [];
  const text = asString(asObject(request["message"])?.["text"]) ?? asString(request["message"]);
  const prompt = defined<EntryOf<"prompt">>({
    kind: "prompt",
    key: `prompt:${id}`,
    globalKey: `prompt:${id}`,
    timeMs,
    promptKey: id,
    origin: "human",
    length: text?.length,
  });
  return [prompt, ...callsOf(request, id, timeMs), ...summariesOf(request, id, timeMs)];
}

/** Other extensions answer in the same sessions. */
const isCopilots = (request: Fields): boolean => {
  const agent = asObject(request["agent"]);
  const extension =
    asString(asObject(agent?.["extensionId"])?.["value"]) ?? asString(agent?.["id"]) ?? "github.copilot";
  return /^github\.copilot/i.test(extension);
};

/**
 * One call per round. A result has the figures of the last successful call only. Those of the other calls are unknown;
 * if the last call failed, all are.
 */
function callsOf(request: Fields, id: string, timeMs: number): readonly EntryOf<"model_call">[] {
  const result = asObject(request["result"]);
  const metadata = metadataOf(request);
  const rounds = objectsIn(metadata?.["toolCallRounds"]);
  const usage = result?.["errorDetails"] === undefined ? usageOf(metadata, rounds.at(-1)) : undefined;
  const calls = rounds.length > 0 ? rounds : usage === undefined ? [] : [{}];
  const model = modelOf(metadata?.["resolvedModel"]) ?? modelOf(request["modelId"]);
  const elapsedMs = asCount(asObject(result?.["timings"])?.["totalElapsed"]) ?? 0;
  return calls.map((round, at) => {
    const key = `round:${asString(round["id"]) ?? `${id}:${at}`}`;
    const isLast = at === calls.length - 1;
    const startMs = asCount(round["timestamp"]);
    const endMs = isLast ? Math.max(timeMs + elapsedMs, startMs ?? 0) : (startMs ?? timeMs);
    return defined<EntryOf<"model_call">>({
      kind: "model_call",
      key,
      globalKey: key,
      timeMs: endMs,
      promptKey: id,
      model: modelOf(round["modelId"]) ?? model,
      endMs,
      usage: isLast ? usage : undefined,
      complete: true,
      asksForTools: asArray(round["toolCalls"]).length > 0 ? true : undefined,
    });
  });
}

/** Summaries of the history are separate requests with their own figures. */
function summariesOf(request: Fields, id: string, timeMs: number): readonly TranscriptEntry[] {
  const metadata = metadataOf(request);
  const several = objectsIn(metadata?.["summaries"]);
  const summaries = several.length > 0 ? several : objectsIn([metadata?.["summary"]]);
  return summaries.flatMap((summary, at): readonly TranscriptEntry[] => {
    const usage = asObject(summary["usage"]);
    const counts = countsOf({
      input: asCount(usage?.["prompt_tokens"]),
      output: asCount(usage?.["completion_tokens"]),
      cacheRead: asCount(asObject(usage?.["prompt_tokens_details"])?.["cached_tokens"]),
    });
    const key = `summary:${id}:${at}`;
    const base = { globalKey: key, timeMs, promptKey: id };
    const call = defined<EntryOf<"model_call">>({
      kind: "model_call",
      key,
      ...base,
      model: modelOf(summary["model"]),
      endMs: timeMs,
      usage: counts,
      complete: true,
      purpose: "compaction",
    });
    return [{ kind: "compaction", key: `compaction:${id}:${at}`, timeMs, promptKey: id }, call];
  });
}

/** `promptTokens` includes cache reads and writes. How much was cached is not in the file. */
const usageOf = (metadata: Fields | undefined, round: Fields | undefined): TokenUsage | undefined =>
  countsOf({
    input: asCount(metadata?.["promptTokens"]),
    output: asCount(metadata?.["outputTokens"]),
    // 0 is written if the provider reported none
    reasoning: asCount(asObject(round?.["thinking"])?.["tokens"]) || undefined,
  });

/** Without a figure for input or output, nothing was reported. */
function countsOf(counts: { readonly [K in keyof TokenUsage]?: number | undefined }): TokenUsage | undefined {
  return counts.input || counts.output ? defined<TokenUsage>(counts) : undefined;
}

/** `copilot/claude-sonnet-4.5`; `auto` is a setting, not a model. */
function modelOf(value: unknown): string | undefined {
  const name = asString(value)?.replace(/^copilot\//, "");
  return name === undefined || name === "auto" ? undefined : name;
}
