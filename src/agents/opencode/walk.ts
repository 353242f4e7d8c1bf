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

/** What a message can mean depends on the messages before it. Plain JSON: it is kept between two drains. */
export interface WalkState {
  /** Key of the last prompt. */
  readonly promptKey?: string;
  /** Messages that OpenCode wrote in the user's name, and the prompt they carry on. */
  readonly own: Readonly<Record<string, string>>;
  /** Messages that only say that the user ran a command; the answer to them is no model's. */
  readonly shells: readonly string[];
  /** A compaction that made room for a request too large ended then; the request is written down once more. */
  readonly replayMs?: number;
  /** Compactions that were asked for, by the message that asks. */
  readonly compactions: Readonly<Record<string, { readonly isAuto: boolean; readonly isOverflow: boolean }>>;
}

export const FRESH: WalkState = { own: {}, shells: [], compactions: {} };

/** Of the session that is walked through. */
export interface WalkSession {
  readonly createdMs: number;
  /** Set for a subagent's session: the session itself. */
  readonly agentId?: string;
  /** The id under which a call is known; see `uniqueCallIds`. */
  readonly callIdOf: (callId: string, partId: string) => string;
}

export interface Walked {
  readonly entries: readonly TranscriptEntry[];
  readonly state: WalkState;
  /** More may be written to it. */
  readonly isOpen: boolean;
}

/** One message → its entries. Telling the same message again gives the same keys. */
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
 * A fork copies messages with their old times; it began later. One made before it, too, saw the clock set back. Where the
 * clock was set back before the fork, copies are younger than it, but not than their ids. A user's message can have its id
 * from a machine with another clock; when its parts were written is told by this one.
 */
function isForked({ id, info, parts }: MessageRow, createdMs: number, sessionCreatedMs: number): boolean {
  if (createdMs < sessionCreatedMs) {
    const born = bornMs(id, createdMs);
    return born === undefined || born >= sessionCreatedMs;
  }
  if (!isOlderCopy(id, createdMs)) return false;
  return info?.["role"] !== "user" || parts.some(({ writtenMs }) => writtenMs !== undefined && writtenMs < createdMs);
}

/** A request is written down again at once; no user is that quick. */
const REPLAYED_WITHIN_MS = 1_000;
const REMEMBERED = 50;

function userMessage(row: MessageRow, createdMs: number, state: WalkState, session: WalkSession): Walked {
  // The parts are written after the message, up to a second later
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
    // Somebody's program gave the first word: there is no prompt to carry on
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
  // What the user ran with `!` stands in an answer that no model gave
  const isShell = !hasSteps && parentId !== undefined && state.shells.includes(parentId);
  const tools = isShell ? [] : row.parts.flatMap(({ id, tool }) => (tool === undefined ? [] : [{ id, tool }]));
  const failure = failureOf(row.id, info);
  const spoken = spokenMs(row.parts);
  const isCut = hasSteps && spoken !== undefined && (failure === undefined || failure.kind === "interruption");
  const told = modelCallOf(row.id, info, spoken);
  // The answer that stands for a slash command's subtask: no model was asked for it
  const isCall = hasSteps || told?.usage !== undefined;
  const call = isCall ? (told ?? (isCut ? cutCall(row, info, createdMs, spoken) : undefined)) : undefined;
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
 * The model had answered, since a tool was begun. Usage is written when the tools are done: that of a process that was killed
 * in between never is. An answer that was cut before it was one is no call; its turn is interrupted or unfinished.
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

/** When the model had spoken: it starts a tool when the call is complete, and its texts have an end. */
function spokenMs(parts: readonly PartRow[]): number | undefined {
  const tools = parts.flatMap(({ tool }) => tool?.startMs ?? []);
  if (tools.length === 0) return undefined;
  return Math.max(...tools, ...parts.flatMap((part) => (part.tool === undefined ? (part.endMs ?? []) : [])));
}

/** The user or a rule said no: the agent stops there, although the model asked for tools. */
const isRefused = (parts: readonly PartRow[]): boolean =>
  parts.some(({ tool }) => tool?.status === "error" && failedOutcome(tool.error, tool.metadata).status === "denied");

/** A summary that came to its end. It is a model call like any other, and counted as one. */
function compactionOf(row: MessageRow, info: MessageInfo, state: WalkState) {
  const timeMs = completedMsOf(info);
  if (timeMs === undefined || asString(info["finish"]) === undefined) return undefined;
  const asked = state.compactions[asString(info["parentID"]) ?? ""];
  const trigger = asked === undefined ? {} : { trigger: asked.isAuto ? "auto" : "manual" };
  const entry: EntryOf<"compaction"> = { kind: "compaction", key: `compaction:${row.id}`, timeMs, ...trigger };
  return { entry, isOverflow: asked?.isOverflow === true };
}

function toolEntries(
  partId: string,
  part: ToolPart,
  createdMs: number,
  place: { readonly promptKey?: string; readonly agentId?: string },
  session: WalkSession,
  isModels: boolean,
): readonly TranscriptEntry[] {
  // A subtask of a slash command has no model's call behind it
  const given = isModels ? part.callId : callIdOf(part.tool, part.callId, partId);
  const callId = session.callIdOf(given ?? partId, partId);
  // The task tool writes its start anew when its subagent is there
  const toldMs = part.startMs ?? createdMs;
  const startMs = part.tool === "task" ? Math.min(toldMs, bornMs(partId, toldMs) ?? toldMs) : toldMs;
  const use = defined<EntryOf<"tool_use">>({
    kind: "tool_use",
    key: `use:${partId}`,
    timeMs: startMs,
    ...place,
    callId,
    name: toolNameOf(part.tool, part.input),
    executable: executableOf(part.command),
  } as EntryOf<"tool_use">);
  const isFailed = part.status === "error";
  if (part.status !== "completed" && !isFailed) return [use];
  const outcome = isFailed ? failedOutcome(part.error, part.metadata) : completedOutcome(part.tool, part.metadata);
  const endMs = part.endMs ?? toldMs;
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
