import { defined } from "../../model/defined.ts";
import { sumKnown, withParts } from "../../model/known.ts";
import type { EntryOf, TokenUsage, ToolStatus, TranscriptEntry } from "../../model/transcript.ts";
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
        model: asString(message["model"]),
        provider: providerName(message["provider"]),
        startMs,
        endMs: Math.max(startMs, endMs),
        usage,
        complete: !isCut,
        finishReason: asCode(stop),
        asksForTools: stop === "toolUse" ? true : undefined,
      } as EntryOf<"model_call">),
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
      } as EntryOf<"model_error">),
    );
  }
  return entries;
}

/** pi repeats a request this often; a setting can change it. */
export const MAX_RETRIES = 3;

/** Whether pi repeats the request, unless it did so too often. By pi's own rule, in `agent-session.js` of 0.73.1. */
export const isRetryable = (message: Message): boolean =>
  message["stopReason"] === "error" && RETRYABLE.test(asString(message["errorMessage"]) ?? "");

/** The error's type: the HTTP status that its text begins with. */
export function errorOf(message: Message): { readonly errorType: string; readonly httpStatus?: number } {
  const status = /^(?:Error: )?(\d{3})\b/.exec(asString(message["errorMessage"]) ?? "")?.[1];
  return status === undefined ? { errorType: "_OTHER" } : { errorType: status, httpStatus: Number(status) };
}

export interface ToolOutcome {
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
const RETRYABLE =
  /overloaded|provider.?returned.?error|rate.?limit|too many requests|429|500|502|503|504|service.?unavailable|server.?error|internal.?error|network.?error|connection.?error|connection.?refused|connection.?lost|websocket.?closed|websocket.?error|other side closed|fetch failed|upstream.?connect|reset before headers|socket hang up|ended without|http2 request did not get a response|timed? out|timeout|terminated|retry delay/i;

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
    reasoning: count("reasoning"),
  } as TokenUsage);
}
