import { isSequenceNumber } from "../../model/call-ids.ts";
import { defined } from "../../model/defined.ts";
import type { EntryOf, TranscriptEntry } from "../../model/transcript.ts";
import { executableOf } from "../shared/names/executables.ts";
import { providerName } from "../shared/names/providers.ts";
import { asString } from "../shared/payload/json.ts";
import { bornMs, isOlderCopy } from "./ids.ts";
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

/** The meaning of a message depends on those before it. Plain JSON, kept between two drains. */
export interface WalkState {
  /** Key of the last prompt. */
  readonly promptKey?: string;
  /** Messages that OpenCode wrote in the user's name → the prompt that they continue. */
  readonly own: Readonly<Record<string, string>>;
  /** Messages that only say that the user ran a command; their answers come from no model. */
  readonly shells: readonly string[];
  /** When a compaction ended that made room for a too large request; the request is then recorded once more. */
  readonly replayMs?: number;
  /** Requested compactions, by the message that requests them. */
  readonly compactions: Readonly<Record<string, { readonly isAuto: boolean; readonly isOverflow: boolean }>>;
}

export const FRESH: WalkState = { own: {}, shells: [], compactions: {} };

/** The session being processed. */
export interface WalkSession {
  readonly createdMs: number;
  /** Set for a subagent's session: the session itself. */
  readonly agentId?: string;
  /** The id under which a call is reported; see `uniqueCallIds`. */
  readonly callIdOf: (callId: string, partId: string) => string;
}

export interface Walked {
  readonly entries: readonly TranscriptEntry[];
  readonly state: WalkState;
  /** More may be written to it. */
  readonly isOpen: boolean;
}

/** One message → its entries. The same message gives the same keys again. */
export function walk(row: MessageRow, state: WalkState, session: WalkSession): Walked {
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
 * A fork began later than the messages that it copied, which keep their times. If a message is older than the fork only because the
 * clock was set back, its copies are younger than the fork but not than their ids. A user's message can have an id from a machine
 * with another clock; the times of its parts come from this one.
 */
function isForked({ id, info, parts }: MessageRow, createdMs: number, sessionCreatedMs: number): boolean {
  if (createdMs < sessionCreatedMs) {
    const born = bornMs(id, createdMs);
    return born === undefined || born >= sessionCreatedMs;
  }
  if (!isOlderCopy(id, createdMs)) return false;
  return info?.["role"] !== "user" || parts.some(({ writtenMs }) => writtenMs !== undefined && writtenMs < createdMs);
}

/** A repeated request is recorded immediately; no user is that fast. */
const REPLAYED_WITHIN_MS = 1_000;
const REMEMBERED = 50;

function userMessage(row: MessageRow, createdMs: number, state: WalkState, session: WalkSession): Walked {
  // The parts are written up to a second after the message
  if (row.parts.length === 0) return { entries: [], state, isOpen: true };
  const { replayMs, ...rest } = state;
  const compaction = row.parts.find((part) => part.type === "compaction");
  const isReplay = replayMs !== undefined && createdMs >= replayMs && createdMs - replayMs <= REPLAYED_WITHIN_MS;
  const prompt = compaction !== undefined || isReplay ? undefined : promptOf(row.parts);
  if (prompt !== undefined) {
    const entry = promptEntry(row.id, createdMs, "human", prompt.length);
    return {
      entries: session.agentId === undefined ? [entry] : [],
      state: { ...rest, promptKey: row.id },
      isOpen: false,
    };
  }
  const carriesOn = state.promptKey;
  const isFirst = carriesOn === undefined && session.agentId === undefined;
  return {
    // A program wrote the first message, so there is no prompt to continue
    entries: isFirst ? [promptEntry(row.id, createdMs, "machine", undefined)] : [],
    state: {
      ...rest,
      ...(isFirst && { promptKey: row.id }),
      own: remember(state.own, row.id, carriesOn ?? row.id),
      shells: compaction === undefined && !isReplay ? [...state.shells, row.id].slice(-REMEMBERED) : state.shells,
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
  Object.fromEntries([...Object.entries(known).filter(([key]) => key !== id), [id, value]].slice(-REMEMBERED));

function answer(row: MessageRow, info: MessageInfo, createdMs: number, state: WalkState, session: WalkSession): Walked {
  const parentId = asString(info["parentID"]);
  const promptKey = (parentId === undefined ? undefined : (state.own[parentId] ?? parentId)) ?? state.promptKey;
  const place =
    session.agentId === undefined ? defined<{ promptKey: string }>({ promptKey }) : { agentId: session.agentId };
  const hasSteps = row.parts.some((part) => part.type === "step-start");
  // What the user ran with `!` is in an answer without a model
  const isShell = !hasSteps && parentId !== undefined && state.shells.includes(parentId);
  const tools = isShell ? [] : row.parts.flatMap(({ id, tool }) => (tool === undefined ? [] : [{ id, tool }]));
  const failure = failureOf(row.id, info);
  const spoken = spokenMs(row.parts);
  const isCut = hasSteps && spoken !== undefined && (failure === undefined || failure.kind === "interruption");
  const recorded = modelCallOf(row.id, info, spoken);
  // The answer that represents a slash command's subtask: no model was called for it
  const isCall = hasSteps || recorded?.usage !== undefined;
  const call = isCall ? (recorded ?? (isCut ? cutCall(row, info, createdMs, spoken) : undefined)) : undefined;
  const compaction = info["summary"] === true && failure === undefined ? compactionOf(row, info, state) : undefined;
  const entries: TranscriptEntry[] = [];
  if (call !== undefined) {
    const goesOn =
      asksForTools(info) && failure === undefined && !isRefused(row.parts) && info["structured"] === undefined;
    entries.push({ ...call, ...place, ...(goesOn && { asksForTools: true }) });
  }
  for (const { id, tool } of tools) entries.push(...toolEntries(id, tool, createdMs, place, session, hasSteps));
  if (failure !== undefined) entries.push({ ...failure, ...place });
  if (compaction !== undefined) entries.push({ ...compaction.entry, ...place });
  const completedMs = completedMsOf(info);
  return {
    entries,
    state: compaction?.isOverflow === true && completedMs !== undefined ? { ...state, replayMs: completedMs } : state,
    isOpen:
      completedMs === undefined || tools.some(({ tool }) => tool.status !== "completed" && tool.status !== "error"),
  };
}

/**
 * The model had answered, because a tool was started. Usage is written when the tools are done, and is lost if the process was killed
 * before. An answer cut off earlier is no call; its turn is interrupted or unfinished.
 */
const cutCall = (
  { id, parts }: MessageRow,
  info: MessageInfo,
  createdMs: number,
  spoken: number | undefined,
): EntryOf<"model_call"> =>
  defined<EntryOf<"model_call">>({
    kind: "model_call",
    key: `message:${id}`,
    timeMs: createdMs,
    model: asString(info["modelID"]),
    provider: providerName(info["providerID"]),
    startMs: createdMs,
    endMs: Math.max(createdMs, spoken ?? 0, ...parts.flatMap(({ endMs }) => endMs ?? [])),
    complete: false,
  } as EntryOf<"model_call">);

/** When the model had finished: it starts a tool when the call is complete, and its texts have end times. */
function spokenMs(parts: readonly PartRow[]): number | undefined {
  const tools = parts.flatMap(({ tool }) => tool?.startMs ?? []);
  if (tools.length === 0) return undefined;
  return Math.max(...tools, ...parts.flatMap((part) => (part.tool === undefined ? (part.endMs ?? []) : [])));
}

/** The user or a rule refused: the agent stops, although the model called tools. */
const isRefused = (parts: readonly PartRow[]): boolean =>
  parts.some(({ tool }) => tool?.status === "error" && failedOutcome(tool.error, tool.metadata).status === "denied");

/** A completed summary. It is a model call like any other and counted as one. */
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
  isModels: boolean,
): readonly TranscriptEntry[] {
  // A slash command's subtask has no model call
  const given = isModels ? part.callId : callIdOf(part.tool, part.callId, partId);
  const callId = session.callIdOf(given ?? partId, partId);
  // The task tool rewrites its start when its subagent exists
  const reportedStartMs = part.startMs ?? createdMs;
  const startMs =
    part.tool === "task"
      ? Math.min(reportedStartMs, bornMs(partId, reportedStartMs) ?? reportedStartMs)
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
  } as EntryOf<"tool_use">);
  const isFailed = part.status === "error";
  if (part.status !== "completed" && !isFailed) return [use];
  const outcome = isFailed ? failedOutcome(part.error, part.metadata) : completedOutcome(part.tool, part.metadata);
  const endMs = part.endMs ?? reportedStartMs;
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
    } as EntryOf<"tool_result">),
  ];
}
