import type { EntryOf, ToolStatus, TranscriptEntry } from "#core/model/transcript.ts";
import { isRandomId } from "#core/rules/call-ids.ts";
import { defined } from "#kit/objects.ts";
import { executableOf } from "../shared/names/executables.ts";
import { providerName } from "../shared/names/providers.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { asCode, asObject, parsedObject } from "../shared/payload/json.ts";
import { writesOfCall } from "../shared/payload/tool-writes.ts";
import type { Walked } from "../shared/transcript/message-table.ts";
import { EDITORS } from "./own-names.ts";
import type { MessageRow, PartRow } from "./rows.ts";

/** State between two messages. Plain JSON, stored between two drains. */
export interface WalkState {
  /** Key of the last prompt. */
  readonly promptKey?: string;
  /** The last message was a summary, so Crush may continue by itself. */
  readonly isSummarised?: boolean;
  /** Ids that the provider counts → the id under which the latest call with it is reported. */
  readonly calls: Readonly<Record<string, string>>;
  /** Unfinished answers → the key of their prompt, if there is one. Those of a killed process stay unfinished. */
  readonly unfinished?: Readonly<Record<string, string | null>>;
  /** The last answer. */
  readonly answerId?: string;
}

export const INITIAL_STATE: WalkState = { calls: {} };

/** The session being processed. */
export interface WalkSession {
  /** Set for a subagent's session: the session itself. */
  readonly agentId?: string;
  /** The id under which a call is reported; see `uniqueCallIds`. */
  readonly callIdOf: (callId: string, messageId: string) => string;
}

/** One message → its entries. The same message gives the same keys again. */
export function walk(row: MessageRow, state: WalkState, session: WalkSession): Walked<WalkState> {
  if (row.createdMs === undefined) return { entries: [], state, isOpen: false };
  switch (row.role) {
    case "user":
      return userMessage(row, row.createdMs, state, session);
    case "assistant":
      return answer(row, row.createdMs, state, session);
    case "tool":
      return { entries: results(row, row.createdMs, state, session), state, isOpen: false };
    default:
      return { entries: [], state, isOpen: false };
  }
}

// --- internal ---

/** Written by Crush after a summary, so that the model continues. */
const CONTINUATION = /^The previous session was interrupted because it got too long\b/;
const REMEMBERED_CALLS = 50;

function userMessage(row: MessageRow, createdMs: number, state: WalkState, session: WalkSession): Walked<WalkState> {
  const { isSummarised, ...rest } = state;
  const texts = row.parts.flatMap(({ text, isHidden }) => (text === undefined || isHidden ? [] : [text]));
  const isContinuation = isSummarised === true && texts.some((text) => CONTINUATION.test(text));
  const isCommand = row.parts.some(({ type }) => type === "shell_command");
  const hasAttachment = row.parts.some(({ type }) => type === "binary" || type === "image_url");
  // A shell command of the user is no prompt; the model sees it with the next one
  const isPrompt = texts.length > 0 || (hasAttachment && !isCommand);
  // A subagent's first message has its instructions
  if (isContinuation || !isPrompt || session.agentId !== undefined) return { entries: [], state: rest, isOpen: false };
  const prompt = defined<EntryOf<"prompt">>({
    kind: "prompt",
    key: `prompt:${row.id}`,
    timeMs: createdMs,
    promptKey: row.id,
    origin: "human",
    length: texts.length === 0 ? undefined : texts.reduce((sum, text) => sum + text.length, 0),
  });
  return { entries: [prompt], state: { ...rest, promptKey: row.id }, isOpen: false };
}

interface Place {
  readonly promptKey?: string;
  readonly agentId?: string;
}

const placeIn = ({ promptKey }: { readonly promptKey?: string | undefined }, { agentId }: WalkSession): Place =>
  agentId === undefined ? (promptKey === undefined ? {} : { promptKey }) : { agentId };

/** One answer of the model is one message; its step includes the tools that it called. */
function answer(row: MessageRow, createdMs: number, state: WalkState, session: WalkSession): Walked<WalkState> {
  // Read again: meanwhile other messages can have been read, up to another prompt
  const isAgain = Object.hasOwn(state.unfinished ?? {}, row.id);
  const promptKey = isAgain ? (state.unfinished?.[row.id] ?? undefined) : state.promptKey;
  const place = placeIn({ promptKey }, session);
  const step = stepOf(row, createdMs);
  const uses = step.calls.flatMap((part) =>
    part.callId === undefined ? [] : { part, nativeId: part.callId, callId: session.callIdOf(part.callId, row.id) },
  );
  const reported = Object.fromEntries(
    uses.flatMap(({ nativeId, callId }) => (isRandomId(nativeId) ? [] : [[nativeId, callId]])),
  );
  return {
    entries: [
      ...modelCallOf(row, step, place),
      ...uses.map(({ part, callId }) => ({ ...toolUse(part, callId, row.id, createdMs), ...place })),
      ...endOf(row, step, place, session),
    ],
    state: stateAfter(state, row, { isAgain, isOpen: step.isOpen, promptKey, reported }),
    isOpen: step.isOpen,
  };
}

/** How an answer went, and the tools that it called. */
interface Step {
  readonly isOpen: boolean;
  readonly isAnswered: boolean;
  readonly isFailed: boolean;
  readonly isCancelled: boolean;
  readonly reason: string | undefined;
  readonly title: string | undefined;
  readonly createdMs: number;
  readonly finishedMs: number;
  readonly calls: readonly PartRow[];
}

function stepOf({ parts, finishedMs }: MessageRow, createdMs: number): Step {
  const finish = parts.findLast(({ type }) => type === "finish");
  const { reason, title } = finish ?? {};
  const isCancelled = reason === "canceled";
  const isFailed = reason === "error";
  return {
    isOpen: finish === undefined,
    isAnswered: finish !== undefined && !isCancelled && !isFailed,
    isFailed,
    isCancelled,
    reason,
    title,
    createdMs,
    finishedMs: Math.max(createdMs, finish?.finishMs ?? finishedMs ?? createdMs),
    calls: parts.filter(({ type }) => type === "tool_call"),
  };
}

function modelCallOf(row: MessageRow, step: Step, place: Place): readonly TranscriptEntry[] {
  const { isAnswered, calls, reason, createdMs, finishedMs } = step;
  // Calls of tools show that the model answered before the request was cut off
  if (!isAnswered && calls.length === 0) return [];
  return [
    defined<EntryOf<"model_call">>({
      kind: "model_call",
      key: `message:${row.id}`,
      timeMs: createdMs,
      ...place,
      model: row.model,
      provider: providerName(row.provider),
      startMs: createdMs,
      endMs: calls.length > 0 ? createdMs : finishedMs,
      complete: isAnswered,
      purpose: row.isSummary ? "compaction" : undefined,
      finishReason: asCode(reason),
      asksForTools: reason === "tool_use" ? true : undefined,
    }),
  ];
}

/** What ended with an answer: the turn, normally or not, or a compaction; empty if the turn goes on. */
function endOf(
  { id, isSummary }: MessageRow,
  step: Step,
  place: Place,
  session: WalkSession,
): readonly TranscriptEntry[] {
  const { isAnswered, isFailed, isCancelled, reason, title } = step;
  const at = { timeMs: step.finishedMs, ...place };
  if (isFailed) return [{ kind: "model_error", key: `error:${id}`, ...at, ...failureOf(title), final: true }];
  if (isCancelled) return [{ kind: "interruption", key: `interruption:${id}`, ...at }];
  if (!isAnswered) return [];
  if (isSummary) return [{ kind: "compaction", key: `compaction:${id}`, ...at }];
  if (reason === "tool_use" || session.agentId !== undefined) return [];
  return [{ kind: "turn_end", key: `turn_end:${id}`, ...at }];
}

interface ReadAnswer {
  readonly isAgain: boolean;
  readonly isOpen: boolean;
  readonly promptKey: string | undefined;
  /** The ids under which tool calls are reported, by the ids that the provider gave them. */
  readonly reported: WalkState["calls"];
}

function stateAfter(
  { unfinished = {}, ...state }: WalkState,
  { id, isSummary }: MessageRow,
  { isAgain, isOpen, promptKey, reported }: ReadAnswer,
): WalkState {
  const isOlder = isAgain && state.answerId !== id;
  const reportedAs = isOlder ? { ...reported, ...state.calls } : { ...state.calls, ...reported };
  const others = Object.entries(unfinished).filter(([one]) => one !== id);
  const left = isOpen ? [...others, [id, promptKey ?? null] as const].slice(-REMEMBERED_CALLS) : others;
  return {
    ...state,
    ...(isSummary && { isSummarised: true }),
    calls: Object.fromEntries(Object.entries(reportedAs).slice(-REMEMBERED_CALLS)),
    ...(left.length > 0 && { unfinished: Object.fromEntries(left) }),
    answerId: isOlder && state.answerId !== undefined ? state.answerId : id,
  };
}

function toolUse(part: PartRow, callId: string, messageId: string, createdMs: number): EntryOf<"tool_use"> {
  const input = parsedObject(part.input ?? "");
  return defined<EntryOf<"tool_use">>({
    kind: "tool_use",
    key: `use:${messageId}:${part.callId}`,
    timeMs: createdMs,
    callId,
    name: part.name ?? "unknown",
    executable: executableOf(asObject(input)?.["command"]),
    mcpServer: /^mcp_([^_]+)_/.exec(part.name ?? "")?.[1],
    inputDigest: inputDigest(input),
    files: writesOfCall(EDITORS, part.name, input),
  });
}

const results = (
  row: MessageRow,
  createdMs: number,
  state: WalkState,
  session: WalkSession,
): readonly TranscriptEntry[] =>
  row.parts.flatMap((part): EntryOf<"tool_result">[] => {
    if (part.type !== "tool_result" || part.callId === undefined) return [];
    return [
      defined<EntryOf<"tool_result">>({
        kind: "tool_result",
        key: `result:${row.id}:${part.callId}`,
        timeMs: part.endMs ?? createdMs,
        ...placeIn(state, session),
        callId: state.calls[part.callId] ?? part.callId,
        ...outcomeOf(part),
        linesAdded: part.linesAdded,
        linesRemoved: part.linesRemoved,
        durationMs:
          part.startMs === undefined || part.endMs === undefined ? undefined : Math.max(0, part.endMs - part.startMs),
      }),
    ];
  });

/** How a call ended. A shell's exit code is only in its text, among what the command itself wrote, so it is not read. */
function outcomeOf(part: PartRow): { readonly status: ToolStatus; readonly errorType?: string } {
  if (!part.isError) return { status: "success" };
  const text = part.content ?? "";
  if (DENYING.has(part.decision ?? "") || DENIED.test(text)) return { status: "denied" };
  return CANCELLED.test(text) ? { status: "error", errorType: "interrupted" } : { status: "error" };
}

/** The HTTP status of a failed request: Crush keeps its name, and no number. */
function failureOf(title: string | undefined): { readonly errorType: string; readonly httpStatus?: number } {
  const httpStatus = STATUSES.get(title?.toLowerCase() ?? "");
  return httpStatus === undefined ? { errorType: "_OTHER" } : { errorType: String(httpStatus), httpStatus };
}

const DENYING: ReadonlySet<string> = new Set(["deny", "halt"]);
/** Texts of calls that a hook or the user denied. */
const DENIED = /^(?:Tool call blocked by hook\.|Turn halted by hook\.|User denied permission\b)/i;
const CANCELLED = /^Error: user cancelled\b/;

const STATUSES: ReadonlyMap<string, number> = new Map([
  ["bad request", 400],
  ["unauthorized", 401],
  ["payment required", 402],
  ["forbidden", 403],
  ["not found", 404],
  ["request timeout", 408],
  ["conflict", 409],
  ["request entity too large", 413],
  ["unprocessable entity", 422],
  ["too many requests", 429],
  ["internal server error", 500],
  ["bad gateway", 502],
  ["service unavailable", 503],
  ["gateway timeout", 504],
]);
