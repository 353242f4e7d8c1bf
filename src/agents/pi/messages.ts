import type { EntryOf, TokenUsage, ToolStatus, TranscriptEntry } from "#core/model/transcript.ts";
import { sumKnown, withParts } from "#kit/numbers.ts";
import { defined } from "#kit/objects.ts";
import { providerName } from "../shared/names/providers.ts";
import { plainText } from "../shared/payload/content.ts";
import { asArray, asCode, asCount, asObject, asString } from "../shared/payload/json.ts";

/** A message, the same in a session's file, in events and in the results of a helper. */
export type Message = Readonly<Record<string, unknown>>;

/** Where an entry belongs. */
export interface Base {
  readonly promptKey?: string | undefined;
  readonly agentId?: string | undefined;
}

/** The objects in a list. */
export const messagesIn = (value: unknown): readonly Message[] =>
  asArray(value).flatMap((one) => {
    const message = asObject(one);
    return message === undefined ? [] : [message];
  });

/** When it was created: for an answer when it was requested, for a result when the tool ended. Milliseconds since the epoch. */
export const timestampOf = (message: Message): number | undefined => asCount(message["timestamp"]);

/** Identifies an answer in all sessions: forks and the results of helpers contain it unchanged. */
export function answerKeyOf(message: Message): string | undefined {
  const timeMs = timestampOf(message);
  const id = asString(message["responseId"]) ?? asString(message["model"]);
  return timeMs === undefined || id === undefined ? undefined : `${timeMs}:${id}`;
}

/**
 * The call of an answer, and its failure.
 *
 * @param endMs when the answer was complete
 * @param failures number of failed attempts that directly precede it
 */
export function answerEntries(
  message: Message,
  endMs: number,
  base: Base,
  failures: number,
): readonly TranscriptEntry[] {
  const key = answerKeyOf(message);
  const startMs = timestampOf(message);
  if (key === undefined || startMs === undefined) return [];
  const stop = asString(message["stopReason"]);
  const usage = usageOf(asObject(message["usage"]));
  const isCut = stop === "error" || stop === "aborted";
  const entries: TranscriptEntry[] = [];
  if (!isCut || usage !== undefined) {
    entries.push(
      defined<EntryOf<"model_call">>({
        kind: "model_call",
        key: `call:${key}`,
        globalKey: `call:${key}`,
        timeMs: startMs,
        ...base,
        responseId: asString(message["responseId"]),
        ...modelOf(message),
        provider: providerName(message["provider"]),
        startMs,
        endMs: Math.max(startMs, endMs),
        usage,
        complete: !isCut,
        finishReason: asCode(stop),
        asksForTools: stop === "toolUse" ? true : undefined,
      }),
    );
  }
  const at = { ...base, globalKey: `error:${key}`, key: `error:${key}`, timeMs: Math.max(startMs, endMs) };
  if (stop === "aborted") entries.push(defined<EntryOf<"interruption">>({ kind: "interruption", ...at }));
  if (stop === "error") {
    entries.push(
      defined<EntryOf<"model_error">>({
        kind: "model_error",
        ...at,
        ...errorOf(message),
        final: !isRetryable(message) || failures >= MAX_RETRIES,
      }),
    );
  }
  return entries;
}

/** A request that is not an answer: its summary, its record or its tool's result has the usage. */
interface PaidRequest {
  /** Identifies the request in all sessions. */
  readonly key: string;
  readonly timeMs: number;
  readonly purpose: "compaction" | "other";
  /** Of which model, if it is known. */
  readonly by?: ModelName | undefined;
  /** The usage is the sum of two requests, of which neither is known. */
  readonly isOfTwo?: boolean;
}

/** A model, as a message or a record names it. */
export type ModelName = Pick<EntryOf<"model_call">, "model" | "provider">;

/** The model that a record of usage or a change of the model names. */
export const modelNameIn = (o: Message, name: string): ModelName =>
  defined<ModelName>({ model: asString(o[name]), provider: providerName(o["provider"]) });

/** @returns none if the record has no usage, as those of older versions */
export function paidEntries(
  usage: unknown,
  { key, timeMs, purpose, by, isOfTwo }: PaidRequest,
  base: Base,
): readonly EntryOf<"model_call">[] {
  const figures = asObject(usage);
  if (figures === undefined) return [];
  const at = { key: `call:${key}`, globalKey: `call:${key}`, timeMs, endMs: timeMs };
  return [
    defined<EntryOf<"model_call">>({
      kind: "model_call",
      ...at,
      ...base,
      ...by,
      purpose,
      usage: usageOf(figures),
      complete: true,
      covers: isOfTwo === true ? "turn" : undefined,
    }),
  ];
}

/** Identifies in all sessions what a tool used. */
export function toolUsageKeyOf(message: Message): string | undefined {
  const [timeMs, callId] = [timestampOf(message), asString(message["toolCallId"])];
  return timeMs === undefined || callId === undefined || message["usage"] === undefined
    ? undefined
    : `${timeMs}:${callId}`;
}

/** The model calls of a tool, as its result sums them up. @param helpers of the tool, which report some of them one by one */
export function toolUsage(
  message: Message,
  base: Base,
  helpers: readonly TranscriptEntry[],
): readonly TranscriptEntry[] {
  const timeMs = timestampOf(message);
  const key = toolUsageKeyOf(message);
  if (timeMs === undefined || key === undefined) return [];
  const usage = withoutHelpers(asObject(message["usage"]), helpers);
  return paidEntries(usage, { key, timeMs, purpose: "other" }, base);
}

/** pi repeats a request this often; a setting can change it. */
export const MAX_RETRIES = 3;

/** Whether pi repeats the request, unless it did so too often. By pi's own rule, in `pi-ai/dist/utils/retry.js` of 1.6.0. */
export function isRetryable(message: Message): boolean {
  const text = message["stopReason"] === "error" ? (asString(message["errorMessage"]) ?? "") : "";
  return RETRYABLE.test(text) && !FINAL.test(text);
}

/** The error's type: the HTTP status that its text begins with. */
export function errorOf(message: Message): { readonly errorType: string; readonly httpStatus?: number } {
  const status = /^(?:Error: )?(\d{3})\b/.exec(asString(message["errorMessage"]) ?? "")?.[1];
  return status === undefined ? { errorType: "_OTHER" } : { errorType: status, httpStatus: Number(status) };
}

interface ToolOutcome {
  readonly status: ToolStatus;
  readonly errorType?: string;
  readonly exitCode?: number;
}

/** How a tool ended. A command's exit code and its stop are only in the last line of its output. */
export function toolOutcome(isError: unknown, content: unknown): ToolOutcome {
  if (isError !== true) return { status: "success" };
  const text = plainText(content) ?? "";
  if (text === BLOCKED) return { status: "denied" };
  const exitCode = /Command exited with code (\d{1,5})\s*$/.exec(text)?.[1];
  if (exitCode !== undefined) return { status: "error", exitCode: Number(exitCode) };
  if (/(?:Command|Operation) aborted\s*$/.test(text)) return { status: "error", errorType: "interrupted" };
  return {
    status: "error",
    ...(/Command timed out after [\d.]+ seconds\s*$/.test(text) && { errorType: "terminated" }),
  };
}

/** The calls in an answer. Those of a failed answer are never run. */
export const callsIn = (message: Message): readonly Message[] =>
  message["stopReason"] === "error" || message["stopReason"] === "aborted"
    ? []
    : asArray(message["content"]).flatMap((block) => {
        const call = asObject(block);
        return call?.["type"] === "toolCall" && asString(call["id"]) !== undefined ? [call] : [];
      });

/** Length of the user's text, in UTF-16 code units. */
export function lengthOf(message: Message): number | undefined {
  const { content } = message;
  const texts = typeof content === "string" ? [content] : asArray(content).map((block) => asObject(block)?.["text"]);
  const known = texts.filter((text) => typeof text === "string");
  return known.length === 0 ? asCount(message["length"]) : known.reduce((sum, text) => sum + text.length, 0);
}

// --- internal ---

const BLOCKED = "Tool execution was blocked";
// The same two rules are in plugin.js
/** Limits of an account: waiting a moment does not help. */
const FINAL =
  /GoUsageLimitError|FreeUsageLimitError|Monthly usage limit reached|available balance|insufficient_quota|out of budget|quota exceeded|billing|subscription_sharing_(?:usage_limit|workplace_individual_usage_limit)_exceeded|"code"\s*:\s*"?1308(?!\d)/i;
const RETRYABLE =
  /overloaded|server_busy|servers are currently busy|currently experiencing high demand|model is at capacity|rate.?limit|too many requests|(?<![a-z0-9])(?:429|500|502|503|504|520|524)(?![a-z0-9])|service.?(?:is.?)?(?:temporarily.?)?unavailable|server.?error|internal.?error|provider.?returned.?(?:an.?)?error|exceeded request buffer limit while retrying upstream|unable to forward upstream|upstream.?request.?failed|upstream_stream_read_error|stream was interrupted|http\/?2 stream failed|network.?error|connection.?error|connection.?refused|connection.?lost|connection.?closed|other side closed|fetch failed|request to \S+ failed, reason:|getaddrinfo|(?<![a-z0-9_])(?:ECONNRESET|ECONNABORTED|ECONNREFUSED|ETIMEDOUT|EPIPE)(?![a-z0-9_])|connection reset by peer|ENOTFOUND|EAI_AGAIN|upstream.?connect|reset before headers|socket hang up|socket connection was closed|timed? out|timeout|terminated|websocket.?closed|websocket.?error|websocket.?connection.?limit.?reached|ended without|stream ended before|http2 request did not get a response|stream disconnected before completion|cut short after the reply had begun|pending stream has been canceled|retry delay|you can retry your request|try your request again|please retry your request|ResourceExhausted|subscription_sharing_(?:usage|user)_unavailable/i;

/** Input excludes cache reads and writes; output includes reasoning. Only zeros: the provider reported nothing. */
function usageOf(usage: Message | undefined): TokenUsage | undefined {
  const count = (name: string): number | undefined => asCount(usage?.[name]);
  const [uncached, output, cacheRead, cacheWrite] = ["input", "output", "cacheRead", "cacheWrite"].map(count);
  if (!sumKnown([uncached, output, cacheRead, cacheWrite])) return undefined;
  return defined<TokenUsage>({
    input: withParts(uncached, cacheRead, cacheWrite),
    output,
    cacheRead,
    cacheWrite,
    cacheWrite1h: count("cacheWrite1h"),
    reasoning: count("reasoning"),
  });
}

/** The model that answered, and the one that was asked for, which a router can replace. */
function modelOf(message: Message): Pick<EntryOf<"model_call">, "model" | "requestedModel"> {
  const [requested, answered] = [asString(message["model"]), asString(message["responseModel"])];
  const isRouted = answered !== undefined && requested !== undefined && answered !== requested;
  return defined<Pick<EntryOf<"model_call">, "model" | "requestedModel">>({
    model: answered ?? requested,
    requestedModel: isRouted ? requested : undefined,
  });
}

const PARTS = ["input", "output", "cacheRead", "cacheWrite"] as const;

/**
 * What a tool used besides its helpers, if its sum includes them.
 *
 * @returns `undefined` if that is nothing
 */
function withoutHelpers(usage: Message | undefined, helpers: readonly TranscriptEntry[]): Message | undefined {
  const calls = helpers.flatMap((entry) => (entry.kind === "model_call" && entry.usage ? [entry.usage] : []));
  if (usage === undefined || calls.length === 0) return usage;
  const ofHelpers = {
    input: calls.reduce((sum, one) => sum + (one.input ?? 0) - (one.cacheRead ?? 0) - (one.cacheWrite ?? 0), 0),
    output: calls.reduce((sum, one) => sum + (one.output ?? 0), 0),
    cacheRead: calls.reduce((sum, one) => sum + (one.cacheRead ?? 0), 0),
    cacheWrite: calls.reduce((sum, one) => sum + (one.cacheWrite ?? 0), 0),
  };
  const rest = Object.fromEntries(PARTS.map((part) => [part, (asCount(usage[part]) ?? 0) - ofHelpers[part]]));
  const left = Object.values(rest);
  if (left.some((tokens) => tokens < 0)) return usage;
  return left.every((tokens) => tokens === 0) ? undefined : rest;
}
