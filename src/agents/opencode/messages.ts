import { defined } from "../../model/defined.ts";
import type { EntryOf, TokenUsage } from "../../model/transcript.ts";
import { providerName } from "../shared/names/providers.ts";
import { asCode, asCount, asObject, asString } from "../shared/payload/json.ts";

/** An answer's record is the same in the database and in `message.updated`. */
export type MessageInfo = Readonly<Record<string, unknown>>;

/** Milliseconds since the epoch. */
export const createdMsOf = (info: MessageInfo): number | undefined => asCount(asObject(info["time"])?.["created"]);
export const completedMsOf = (info: MessageInfo): number | undefined => asCount(asObject(info["time"])?.["completed"]);

/**
 * The model call of an answer; one answer is one request.
 *
 * @param endMs when the model had spoken, where its parts tell; tools run before the answer counts as completed
 * @returns `undefined` for an answer that never came to an end: its usage is written last, and lost with the process
 */
export function modelCallOf(id: string, info: MessageInfo, endMs?: number): EntryOf<"model_call"> | undefined {
  const createdMs = createdMsOf(info);
  const finish = asString(info["finish"]);
  const usage = usageOf(asObject(info["tokens"]));
  // Without a failure it is the provider's word on its answer, such as a call that it could not make sense of itself
  const isFinished = finish !== undefined && (finish !== "error" || asObject(info["error"]) === undefined);
  if (createdMs === undefined || (usage === undefined && !isFinished)) return undefined;
  return defined<EntryOf<"model_call">>({
    kind: "model_call",
    key: `message:${id}`,
    timeMs: createdMs,
    model: asString(info["modelID"]),
    provider: providerName(info["providerID"]),
    startMs: createdMs,
    endMs: Math.max(createdMs, endMs ?? (finish === ASKS ? createdMs : (completedMsOf(info) ?? createdMs))),
    usage,
    complete: isFinished,
    finishReason: asCode(finish),
  } as EntryOf<"model_call">);
}

/** Whether the agent goes on after this answer, as far as the answer itself says. */
export const asksForTools = (info: MessageInfo): boolean => asString(info["finish"]) === ASKS;

/** What an answer that failed says. A user who stops the agent is no failure of the model. */
export function failureOf(id: string, info: MessageInfo): EntryOf<"model_error" | "interruption"> | undefined {
  const error = asObject(info["error"]);
  const timeMs = completedMsOf(info) ?? createdMsOf(info);
  if (error === undefined || timeMs === undefined) return undefined;
  const at = { key: `error:${id}`, timeMs };
  if (error["name"] === ABORTED) return { kind: "interruption", ...at };
  const { errorType, httpStatus } = errorOf(error);
  return { kind: "model_error", ...at, errorType, final: true, ...(httpStatus !== undefined && { httpStatus }) };
}

/** Name and status of an error as OpenCode writes it down. The status says more where there is one. */
export function errorOf(error: unknown): { readonly errorType: string; readonly httpStatus?: number } {
  const e = asObject(error);
  const httpStatus = asCount(asObject(e?.["data"])?.["statusCode"]);
  if (e?.["name"] === ABORTED) return { errorType: "interrupted" };
  return httpStatus === undefined
    ? { errorType: asCode(e?.["name"]) ?? "_OTHER" }
    : { errorType: String(httpStatus), httpStatus };
}

/** One part of a user's message, as far as it tells who wrote it. */
export interface PromptPart {
  readonly type: string | undefined;
  /** Put in by OpenCode itself or by a plugin, for the model or for the screen alone. */
  readonly isOwn: boolean;
  /** Of a text, in UTF-16 code units. */
  readonly length: number | undefined;
}

/**
 * Tells a user's prompt from the messages that OpenCode writes in the user's name: to go on after a compaction, to hand over
 * a result. Those hold nothing but texts of its own.
 *
 * @returns `undefined` for one that no user wrote
 */
export function promptOf(parts: readonly PromptPart[]): { readonly length?: number } | undefined {
  const written = parts.filter((part) => WRITTEN.has(part.type ?? "") && !part.isOwn);
  if (written.length === 0) return undefined;
  const lengths = written.map((part) => part.length).filter((length) => length !== undefined);
  return lengths.length === 0 ? {} : { length: lengths.reduce((sum, length) => sum + length, 0) };
}

// --- internal ---

const ASKS = "tool-calls";
const ABORTED = "MessageAbortedError";
const WRITTEN: ReadonlySet<string> = new Set(["text", "file", "agent", "subtask"]);

/** OpenCode's input is without what came from or went to a cache, its output is without reasoning. All zeros: not told. */
function usageOf(tokens: Readonly<Record<string, unknown>> | undefined): TokenUsage | undefined {
  const cache = asObject(tokens?.["cache"]);
  const fresh = asCount(tokens?.["input"]) ?? 0;
  const output = asCount(tokens?.["output"]) ?? 0;
  const reasoning = asCount(tokens?.["reasoning"]) ?? 0;
  const cacheRead = asCount(cache?.["read"]) ?? 0;
  const cacheWrite = asCount(cache?.["write"]) ?? 0;
  const input = fresh + cacheRead + cacheWrite;
  if (input + output + reasoning === 0) return undefined;
  // Earlier versions left reasoning inside the output; the total, where there is one, shows which it is
  const isInside = reasoning > 0 && asCount(tokens?.["total"]) === input + output;
  return { input, output: isInside ? output : output + reasoning, cacheRead, cacheWrite, reasoning };
}
