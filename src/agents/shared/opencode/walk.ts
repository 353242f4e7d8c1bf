import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { defined } from "#kit/objects.ts";
import { executableOf } from "../names/executables.ts";
import { providerName } from "../names/providers.ts";
import { skillOf } from "../names/skill.ts";
import { asString } from "../payload/json.ts";
import type { Walked } from "../transcript/message-table.ts";
import { writesOfMetadata } from "./file-writes.ts";
import { idTimeMs, isOlderCopy } from "./ids.ts";
import {
  asksForTools,
  completedMsOf,
  createdMsOf,
  failureOf,
  type MessageInfo,
  modelCallOf,
  promptOf,
} from "./messages.ts";
import type { MessageRow, PartRow, ToolPart } from "./rows.ts";
import { callIdOf, completedOutcome, failedOutcome, toolNameOf } from "./tools.ts";

/** State between two messages. Plain JSON, stored between two drains. */
export interface WalkState {
  /** Key of the last prompt. */
  readonly promptKey?: string;
  /** Messages with the role `user` that OpenCode wrote → the prompt that they continue. */
  readonly own: Readonly<Record<string, string>>;
  /** Messages that only record a command of the user; their answers are not from a model. */
  readonly shells: readonly string[];
  /** End of a compaction after which a request that was too large is repeated and recorded again. */
  readonly replayMs?: number;
  /** Requested compactions, by the message that requests them. */
  readonly compactions: Readonly<Record<string, { readonly isAuto: boolean; readonly isOverflow: boolean }>>;
}

export const INITIAL_STATE: WalkState = { own: {}, shells: [], compactions: {} };

/** The session being processed. */
export interface WalkSession {
  readonly createdMs: number;
  /** Set for a subagent's session: the session itself. */
  readonly agentId?: string;
  /** The id under which a call is reported; see `uniqueCallIds`. */
  readonly callIdOf: (callId: string, partId: string) => string;
}

/** One message → its entries. The same message gives the same keys again. */
export function walk(row: MessageRow, state: WalkState, session: WalkSession): Walked<WalkState> {
  const { info } = row;
  const createdMs = info === undefined ? undefined : createdMsOf(info);
  if (info === undefined || createdMs === undefined) return { entries: [], state, isOpen: false };
  if (isForked(row, createdMs, session.createdMs)) return { entries: [], state, isOpen: false };
  if (info["role"] === "user") return userMessage(row, createdMs, state, session);
  if (info["role"] === "assistant") return answer(row, info, createdMs, state, session);
  return { entries: [], state, isOpen: false };
}

// --- internal ---

/**
 * Whether a message was copied by a fork: copies keep their times, which are earlier than the fork, but have new ids. If the clock
 * was set back before the fork, their times are later than the fork and than their ids. A user's message can have an id from a
 * machine with another clock, so the times of its parts are compared too.
 */
function isForked({ id, info, parts }: MessageRow, createdMs: number, sessionCreatedMs: number): boolean {
  if (createdMs < sessionCreatedMs) {
    const born = idTimeMs(id, createdMs);
    return born === undefined || born >= sessionCreatedMs;
  }
  if (!isOlderCopy(id, createdMs)) return false;
  return info?.["role"] !== "user" || parts.some(({ writtenMs }) => writtenMs !== undefined && writtenMs < createdMs);
}

/** OpenCode repeats a request within this time; no user does. */
const REPLAY_WITHIN_MS = 1_000;
const REMEMBERED_MESSAGES = 50;

function userMessage(row: MessageRow, createdMs: number, state: WalkState, session: WalkSession): Walked<WalkState> {
  // The parts are written up to a second after the message
  if (row.parts.length === 0) return { entries: [], state, isOpen: true };
  const { replayMs, ...rest } = state;
  const compaction = row.parts.find((part) => part.type === "compaction");
  const isReplay = replayMs !== undefined && createdMs >= replayMs && createdMs - replayMs <= REPLAY_WITHIN_MS;
  const prompt = compaction !== undefined || isReplay ? undefined : promptOf(row.parts);
  if (prompt !== undefined) {
    const entry = promptEntry(row.id, createdMs, "human", prompt.length);
    return {
      entries: session.agentId === undefined ? [entry] : [],
      state: { ...rest, promptKey: row.id },
      isOpen: false,
    };
  }
  const currentPrompt = state.promptKey;
  const isFirst = currentPrompt === undefined && session.agentId === undefined;
  return {
    // The first message of a session, written by a program: there is no prompt to continue
    entries: isFirst ? [promptEntry(row.id, createdMs, "machine", undefined)] : [],
    state: {
      ...rest,
      ...(isFirst && { promptKey: row.id }),
      own: remember(state.own, row.id, currentPrompt ?? row.id),
      shells:
        compaction === undefined && !isReplay ? [...state.shells, row.id].slice(-REMEMBERED_MESSAGES) : state.shells,
      compactions:
        compaction === undefined
          ? state.compactions
          : remember(state.compactions, row.id, { isAuto: compaction.isAuto, isOverflow: compaction.isOverflow }),
    },
    isOpen: false,
  };
}

const promptEntry = (
  id: string,
  timeMs: number,
  origin: "human" | "machine",
  length: number | undefined,
): EntryOf<"prompt"> => ({
  kind: "prompt",
  key: `prompt:${id}`,
  timeMs,
  promptKey: id,
  origin,
  ...(length !== undefined && { length }),
});

const remember = <T>(known: Readonly<Record<string, T>>, id: string, value: T): Readonly<Record<string, T>> =>
  Object.fromEntries([...Object.entries(known).filter(([key]) => key !== id), [id, value]].slice(-REMEMBERED_MESSAGES));

function answer(
  row: MessageRow,
  info: MessageInfo,
  createdMs: number,
  state: WalkState,
  session: WalkSession,
): Walked<WalkState> {
  const parentId = asString(info["parentID"]);
  const promptKey = (parentId === undefined ? undefined : (state.own[parentId] ?? parentId)) ?? state.promptKey;
  const base =
    session.agentId === undefined ? defined<{ promptKey: string }>({ promptKey }) : { agentId: session.agentId };
  const hasSteps = row.parts.some((part) => part.type === "step-start");
  // A command that the user ran with `!` is recorded as an answer without a model
  const isShell = !hasSteps && parentId !== undefined && state.shells.includes(parentId);
  const tools = isShell ? [] : row.parts.flatMap(({ id, tool }) => (tool === undefined ? [] : [{ id, tool }]));
  const failure = failureOf(row.id, info);
  const answerMs = answerEndMs(row.parts);
  const isIncomplete = hasSteps && answerMs !== undefined && (failure === undefined || failure.kind === "interruption");
  const recorded = modelCallOf(row.id, info, answerMs);
  // An answer can also represent a slash command's subtask, for which no model was called
  const isCall = hasSteps || recorded?.usage !== undefined;
  const call = isCall
    ? (recorded ?? (isIncomplete ? incompleteCall(row, info, createdMs, answerMs) : undefined))
    : undefined;
  const compaction = info["summary"] === true && failure === undefined ? compactionOf(row, info, state) : undefined;
  const entries: TranscriptEntry[] = [];
  if (call !== undefined) {
    const continues =
      asksForTools(info) && failure === undefined && !isRefused(row.parts) && info["structured"] === undefined;
    const isSummary = info["summary"] === true;
    entries.push({
      ...call,
      ...base,
      ...(continues && { asksForTools: true }),
      ...(isSummary && { purpose: "compaction" }),
    });
  }
  for (const { id, tool } of tools) entries.push(...toolEntries(id, tool, createdMs, base, session, hasSteps));
  if (failure !== undefined) entries.push({ ...failure, ...base });
  if (compaction !== undefined) entries.push({ ...compaction.entry, ...base });
  const completedMs = completedMsOf(info);
  return {
    entries,
    state: compaction?.isOverflow === true && completedMs !== undefined ? { ...state, replayMs: completedMs } : state,
    isOpen:
      completedMs === undefined || tools.some(({ tool }) => tool.status !== "completed" && tool.status !== "error"),
  };
}

/**
 * The call of an answer without usage. Tools were started, so the model had answered; usage is written after the tools ended, and
 * is lost if the process was killed before. An answer that was cut off before its tools is no call: its turn is interrupted or
 * unfinished.
 */
const incompleteCall = (
  { id, parts }: MessageRow,
  info: MessageInfo,
  createdMs: number,
  answerMs: number | undefined,
): EntryOf<"model_call"> =>
  defined<EntryOf<"model_call">>({
    kind: "model_call",
    key: `message:${id}`,
    timeMs: createdMs,
    model: asString(info["modelID"]),
    provider: providerName(info["providerID"]),
    startMs: createdMs,
    endMs: Math.max(createdMs, answerMs ?? 0, ...parts.flatMap(({ endMs }) => endMs ?? [])),
    complete: false,
  });

/** End of the model's answer: the last start of a tool, or the last end of a text. `undefined` without tools. */
function answerEndMs(parts: readonly PartRow[]): number | undefined {
  const tools = parts.flatMap(({ tool }) => tool?.startMs ?? []);
  if (tools.length === 0) return undefined;
  return Math.max(...tools, ...parts.flatMap((part) => (part.tool === undefined ? (part.endMs ?? []) : [])));
}

/** The user or a rule refused: the agent stops, although the model called tools. */
const isRefused = (parts: readonly PartRow[]): boolean =>
  parts.some(({ tool }) => tool?.status === "error" && failedOutcome(tool.error, tool.metadata).status === "denied");

/** The compaction of a completed summary, which is also counted as a model call. */
function compactionOf(row: MessageRow, info: MessageInfo, state: WalkState) {
  const timeMs = completedMsOf(info);
  if (timeMs === undefined || asString(info["finish"]) === undefined) return undefined;
  const request = state.compactions[asString(info["parentID"]) ?? ""];
  const trigger = request === undefined ? {} : { trigger: request.isAuto ? "auto" : "manual" };
  const entry: EntryOf<"compaction"> = { kind: "compaction", key: `compaction:${row.id}`, timeMs, ...trigger };
  return { entry, isOverflow: request?.isOverflow === true };
}

function toolEntries(
  partId: string,
  part: ToolPart,
  createdMs: number,
  place: { readonly promptKey?: string; readonly agentId?: string },
  session: WalkSession,
  hasModelCall: boolean,
): readonly TranscriptEntry[] {
  // A slash command's subtask has no model call
  const given = hasModelCall ? part.callId : callIdOf(part.tool, part.callId, partId);
  const callId = session.callIdOf(given ?? partId, partId);
  // The task tool changes its start time when its subagent exists
  const reportedStartMs = part.startMs ?? createdMs;
  const startMs =
    part.tool === "task"
      ? Math.min(reportedStartMs, idTimeMs(partId, reportedStartMs) ?? reportedStartMs)
      : reportedStartMs;
  const use = defined<EntryOf<"tool_use">>({
    kind: "tool_use",
    key: `use:${partId}`,
    timeMs: startMs,
    ...place,
    callId,
    givenId: given !== undefined && isSequenceNumber(given) ? given : undefined,
    name: toolNameOf(part.tool, part.input),
    executable: executableOf(part.command),
    skill: skillOf(part.tool, { name: part.named }),
  });
  const isFailed = part.status === "error";
  if (part.status !== "completed" && !isFailed) return [use];
  const outcome = isFailed ? failedOutcome(part.error, part.metadata) : completedOutcome(part.tool, part.metadata);
  const endMs = part.endMs ?? reportedStartMs;
  const files = outcome.status === "success" ? writesOfMetadata(part.metadata, part.input) : [];
  return [
    use,
    defined<EntryOf<"tool_result">>({
      kind: "tool_result",
      key: `result:${partId}`,
      timeMs: endMs,
      ...place,
      callId,
      ...outcome,
      durationMs: part.startMs === undefined ? undefined : Math.max(0, endMs - startMs),
      files: files.length === 0 ? undefined : files,
    }),
  ];
}
