import type { EntryOf, TokenUsage } from "#core/model/transcript.ts";
import { sumKnown, sumOfAll, withParts } from "#kit/numbers.ts";
import { defined } from "#kit/objects.ts";
import { providerName } from "../names/providers.ts";
import { asCode, asCount, asObject, asString } from "../payload/json.ts";

/** The record of a message, the same in the database and in `message.updated`. */
export type MessageInfo = Readonly<Record<string, unknown>>;

/** Milliseconds since the epoch. */
export const createdMsOf = (info: MessageInfo): number | undefined => asCount(asObject(info["time"])?.["created"]);
export const completedMsOf = (info: MessageInfo): number | undefined => asCount(asObject(info["time"])?.["completed"]);

/**
 * The model call of an answer; one answer is one request.
 *
 * @param endMs end of the model's answer, if the parts have it; the answer's own end includes its tools
 * @returns `undefined` for an answer that was never completed: usage is written last, so it is lost if the process is killed
 */
export function modelCallOf(id: string, info: MessageInfo, endMs?: number): EntryOf<"model_call"> | undefined {
  const createdMs = createdMsOf(info);
  const finish = asString(info["finish"]);
  const usage = usageOf(asObject(info["tokens"]));
  // Without an error in the record, "error" is the provider's finish reason, for example if it could not parse a call
  const isFinished = finish !== undefined && (finish !== "error" || asObject(info["error"]) === undefined);
  if (createdMs === undefined || (usage === undefined && !isFinished)) return undefined;
  return defined<EntryOf<"model_call">>({
    kind: "model_call",
    key: `message:${id}`,
    timeMs: createdMs,
    model: asString(info["modelID"]),
    provider: providerName(info["providerID"]),
    startMs: createdMs,
    endMs: Math.max(createdMs, endMs ?? (finish === TOOL_CALLS ? createdMs : (completedMsOf(info) ?? createdMs))),
    usage,
    complete: isFinished,
    finishReason: asCode(finish),
  });
}

/** Whether the model called tools, so that the agent continues. */
export const asksForTools = (info: MessageInfo): boolean => asString(info["finish"]) === TOOL_CALLS;

/** The failure of an answer; an interruption if the user stopped the agent. */
export function failureOf(id: string, info: MessageInfo): EntryOf<"model_error" | "interruption"> | undefined {
  const error = asObject(info["error"]);
  const timeMs = completedMsOf(info) ?? createdMsOf(info);
  if (error === undefined || timeMs === undefined) return undefined;
  const at = { key: `error:${id}`, timeMs };
  if (error["name"] === ABORTED) return { kind: "interruption", ...at };
  const { errorType, httpStatus } = errorOf(error);
  return { kind: "model_error", ...at, errorType, final: true, ...(httpStatus !== undefined && { httpStatus }) };
}

/** Error type of a recorded error: the HTTP status, which is more precise, otherwise the name. */
export function errorOf(error: unknown): { readonly errorType: string; readonly httpStatus?: number } {
  const e = asObject(error);
  const httpStatus = asCount(asObject(e?.["data"])?.["statusCode"]);
  if (e?.["name"] === ABORTED) return { errorType: "interrupted" };
  return httpStatus === undefined
    ? { errorType: asCode(e?.["name"]) ?? "_OTHER" }
    : { errorType: String(httpStatus), httpStatus };
}

/** The members of a message's part that show who wrote it. */
export interface PromptPart {
  readonly type: string | undefined;
  /** Added by OpenCode or a plugin, only for the model or only for the screen. */
  readonly isOwn: boolean;
  /** Length of a text, in UTF-16 code units. */
  readonly length: number | undefined;
}

/**
 * Whether a message with the role `user` is the user's prompt. OpenCode writes such messages too, to continue after a compaction
 * or to pass on a result; all their parts are its own.
 *
 * @returns `undefined` if OpenCode wrote the message
 */
export function promptOf(parts: readonly PromptPart[]): { readonly length?: number } | undefined {
  const written = parts.filter((part) => PROMPT_PARTS.has(part.type ?? "") && !part.isOwn);
  if (written.length === 0) return undefined;
  const lengths = written.map((part) => part.length).filter((length) => length !== undefined);
  return lengths.length === 0 ? {} : { length: lengths.reduce((sum, length) => sum + length, 0) };
}

// --- internal ---

const TOOL_CALLS = "tool-calls";
const ABORTED = "MessageAbortedError";
const PROMPT_PARTS: ReadonlySet<string> = new Set(["text", "file", "agent", "subtask"]);

/**
 * OpenCode's input excludes cache reads and writes, its output excludes reasoning. A missing figure is unknown, and so is a sum
 * that includes it, unless the total shows that nothing is missing. Only zeros mean that usage is unknown.
 */
function usageOf(tokens: Readonly<Record<string, unknown>> | undefined): TokenUsage | undefined {
  const cache = asObject(tokens?.["cache"]);
  const uncached = asCount(tokens?.["input"]);
  const output = asCount(tokens?.["output"]);
  const reasoning = asCount(tokens?.["reasoning"]);
  const cacheRead = asCount(cache?.["read"]);
  const cacheWrite = asCount(cache?.["write"]);
  if (!sumKnown([uncached, output, reasoning, cacheRead, cacheWrite])) return undefined;
  const total = asCount(tokens?.["total"]);
  const input = withParts(uncached, cacheRead, cacheWrite);
  // Earlier versions included reasoning in the output, which shows in the total
  const isWhole = total !== undefined && total === sumOfAll(input, output);
  return defined<TokenUsage>({
    input: isWhole ? input : sumOfAll(uncached, cacheRead, cacheWrite),
    output: isWhole ? output : sumOfAll(output, reasoning),
    cacheRead,
    cacheWrite,
    reasoning,
  });
}
