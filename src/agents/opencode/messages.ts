import { defined } from "../../model/defined.ts";
import { sumKnown, sumOfAll, withParts } from "../../model/known.ts";
import type { EntryOf, TokenUsage } from "../../model/transcript.ts";
import { providerName } from "../shared/names/providers.ts";
import { asCode, asCount, asObject, asString } from "../shared/payload/json.ts";

/** An answer's record, equal in the database and in `message.updated`. */
export type MessageInfo = Readonly<Record<string, unknown>>;

/** Milliseconds since the epoch. */
export const createdMsOf = (info: MessageInfo): number | undefined => asCount(asObject(info["time"])?.["created"]);
export const completedMsOf = (info: MessageInfo): number | undefined => asCount(asObject(info["time"])?.["completed"]);

/**
 * The model call of an answer; one answer is one request.
 *
 * @param endMs when the model had finished, if the parts say; tools run before the answer counts as completed
 * @returns `undefined` for an answer that was never completed: its usage is written last, and lost with the process
 */
export function modelCallOf(id: string, info: MessageInfo, endMs?: number): EntryOf<"model_call"> | undefined {
  const createdMs = createdMsOf(info);
  const finish = asString(info["finish"]);
  const usage = usageOf(asObject(info["tokens"]));
  // Without a failure, "error" is the provider's finish reason, for example for a call that it could not parse
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

/** Whether the agent continues after this answer, according to the answer. */
export const asksForTools = (info: MessageInfo): boolean => asString(info["finish"]) === ASKS;

/** The failure of an answer. A user who stops the agent is not a model failure. */
export function failureOf(id: string, info: MessageInfo): EntryOf<"model_error" | "interruption"> | undefined {
  const error = asObject(info["error"]);
  const timeMs = completedMsOf(info) ?? createdMsOf(info);
  if (error === undefined || timeMs === undefined) return undefined;
  const at = { key: `error:${id}`, timeMs };
  if (error["name"] === ABORTED) return { kind: "interruption", ...at };
  const { errorType, httpStatus } = errorOf(error);
  return { kind: "model_error", ...at, errorType, final: true, ...(httpStatus !== undefined && { httpStatus }) };
}

/** Name and status of an error as OpenCode records it. The status says more, if there is one. */
export function errorOf(error: unknown): { readonly errorType: string; readonly httpStatus?: number } {
  const e = asObject(error);
  const httpStatus = asCount(asObject(e?.["data"])?.["statusCode"]);
  if (e?.["name"] === ABORTED) return { errorType: "interrupted" };
  return httpStatus === undefined
    ? { errorType: asCode(e?.["name"]) ?? "_OTHER" }
    : { errorType: String(httpStatus), httpStatus };
}

/** One part of a user's message, as far as it shows who wrote it. */
export interface PromptPart {
  readonly type: string | undefined;
  /** Added by OpenCode or a plugin, for the model or the screen only. */
  readonly isOwn: boolean;
  /** Length of a text, in UTF-16 code units. */
  readonly length: number | undefined;
}

/**
 * Distinguishes a user's prompt from messages that OpenCode writes in the user's name, to continue after a compaction or to pass on a
 * result. Those contain nothing but OpenCode's own texts.
 *
 * @returns `undefined` if no user wrote it
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

/**
 * OpenCode's input excludes cache reads and writes, its output excludes reasoning. A missing figure is unknown, and so is what
 * includes it, unless the total shows that nothing is missing. All zeros: not reported.
 */
function usageOf(tokens: Readonly<Record<string, unknown>> | undefined): TokenUsage | undefined {
  const cache = asObject(tokens?.["cache"]);
  const fresh = asCount(tokens?.["input"]);
  const output = asCount(tokens?.["output"]);
  const reasoning = asCount(tokens?.["reasoning"]);
  const cacheRead = asCount(cache?.["read"]);
  const cacheWrite = asCount(cache?.["write"]);
  if (!sumKnown([fresh, output, reasoning, cacheRead, cacheWrite])) return undefined;
  const total = asCount(tokens?.["total"]);
  const input = withParts(fresh, cacheRead, cacheWrite);
  // Earlier versions included reasoning in the output; the total, if there is one, shows which applies
  const isWhole = total !== undefined && total === sumOfAll(input, output);
  return defined<TokenUsage>({
    input: isWhole ? input : sumOfAll(fresh, cacheRead, cacheWrite),
    output: isWhole ? output : sumOfAll(output, reasoning),
    cacheRead,
    cacheWrite,
    reasoning,
  } as TokenUsage);
}
