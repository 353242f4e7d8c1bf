import { dirname, join } from "node:path";
import type { FactBase, FactSink } from "#core/model/fact-sink.ts";
import { defined } from "#kit/objects.ts";
import { executableOf } from "../shared/names/executables.ts";
import { skillOf } from "../shared/names/skill.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import {
  asArray,
  asCode,
  asCount,
  asObject,
  asString,
  asTimeMs,
  type Fields,
  parsedObject,
} from "../shared/payload/json.ts";
import { writesOfCall } from "../shared/payload/tool-writes.ts";
import type { JsonLine } from "../shared/transcript/json-line.ts";
import { UNREADABLE } from "../shared/transcript/read-lines.ts";
import { EDITORS, writesOfResult } from "./file-writes.ts";
import { headOf } from "./places.ts";
import { exitCodeIn, isTask, mcpServerOf, spawnedIn } from "./texts.ts";

/** State between two lines of a file. Plain JSON, stored between two drains. */
export interface LineState {
  /** Time of the last line that had one; turn ends have none. */
  timeMs: number;
  /** Facts of the file's first line, which has no time: they get the time of the next line that has one. */
  start?: Start | undefined;
  /** Key of the current turn's prompt. */
  promptKey?: string | undefined;
  /** The session's first turn: the token sum of the session is counted there. */
  first?: { readonly key?: string | undefined; readonly startMs: number; readonly endMs: number } | undefined;
  /** Ids of the models that answered. */
  models?: readonly string[] | undefined;
  /** While a fork's copies are read: id of the last message that was copied. */
  copiedUntil?: string | undefined;
  /** Only copied lines of the fork were read so far. */
  isForked?: true | undefined;
  /** HTTP status in the last error that Droid showed. */
  httpStatus?: number | undefined;
}

interface Start {
  readonly cwd?: string | undefined;
  readonly callerId?: string | undefined;
  readonly callId?: string | undefined;
}

/** The file that a line is in. */
export interface FileContext {
  readonly path: string;
  readonly sessionId: string;
  /** The subagent whose file it is. */
  readonly agentId: string | undefined;
  readonly roots: readonly string[] | undefined;
}

/**
 * Reads one line: passes its facts to the sink and updates the state.
 *
 * @returns the line's kind; `UNREADABLE` when it is no JSON object
 */
export function readLine(line: JsonLine, file: FileContext, state: LineState, sink: FactSink): unknown {
  const o = parsedObject(line.bytes);
  if (o === undefined) return UNREADABLE;
  const kind = o["type"];
  const timeMs = asTimeMs(o["timestamp"]);
  state.timeMs = timeMs ?? state.timeMs;
  const context: LineContext = { o, file, state, sink };
  if (timeMs !== undefined && state.start !== undefined) putStart(context, state.start);
  if (kind === "session_start") sessionStart(context);
  else if (kind === "message") message(context);
  else if (kind === "agent_turn_outcome") turnOutcome(context);
  return kind;
}

/** Kinds of lines in recordings. */
export const KINDS: readonly string[] = [
  "session_start",
  "message",
  "agent_turn_outcome",
  "compaction_state",
  "todo_state",
];

// --- internal ---

interface LineContext {
  readonly o: Fields;
  readonly file: FileContext;
  readonly state: LineState;
  readonly sink: FactSink;
}

/** Message ids are unique over all sessions. */
const factBase = ({ file, state }: LineContext, key: string): FactBase =>
  defined<FactBase>({
    key,
    timeMs: state.timeMs,
    globalKey: key,
    promptKey: file.agentId === undefined ? state.promptKey : undefined,
    agentId: file.agentId,
  });

function sessionStart({ o, state }: LineContext): void {
  // A fork's file begins with the origin's messages
  if (asString(o["parent"]) !== undefined) state.copiedUntil = asString(o["forkedAtMessageId"]);
  state.start = {
    cwd: asString(o["cwd"]),
    callerId: asString(o["callingSessionId"]),
    callId: asString(o["callingToolUseId"]),
  };
}

function putStart(context: LineContext, { cwd, callerId, callId }: Start): void {
  const { file, state, sink } = context;
  state.start = undefined;
  if (file.agentId === undefined) {
    sink.other({ kind: "session", key: `session:${file.sessionId}`, timeMs: state.timeMs, ...(cwd && { cwd }) });
    return;
  }
  sink.other({
    kind: "subagent",
    ...factBase(context, `subagent:${file.agentId}`),
    ...(callId !== undefined && { parentCallId: callId }),
    ...(callerId !== undefined && isSubagent(file, callerId) && { parentAgentId: callerId }),
  });
}

const isSubagent = ({ path, roots }: FileContext, sessionId: string): boolean => {
  const caller = join(dirname(path), `${sessionId}.jsonl`);
  return headOf(caller, roots)?.callerId !== undefined;
};

function message(context: LineContext): void {
  const { o, state } = context;
  const id = asString(o["id"]);
  const m = asObject(o["message"]);
  if (id === undefined || m === undefined) return;
  if (state.copiedUntil !== undefined) {
    if (id === state.copiedUntil) [state.copiedUntil, state.isForked] = [undefined, true];
    return;
  }
  const blocks = asArray(m["content"]).flatMap((block): readonly Fields[] => {
    const fields = asObject(block);
    return fields === undefined ? [] : [fields];
  });
  if (m["visibility"] !== undefined) {
    // Runs of hooks, reminders, and errors as Droid shows them
    const status = blocks.map((block) => /\bError: (\d{3})\b/.exec(asString(block["text"]) ?? "")?.[1]).find(Boolean);
    if (m["hookEventName"] === undefined && status !== undefined) state.httpStatus = Number(status);
    hookRun(context, id, m);
    return;
  }
  state.isForked = undefined;
  if (m["role"] === "assistant") answer(context, m, blocks);
  else if (m["role"] === "user") userMessage(context, id, blocks);
}

const HOOKS_OF_CALLS: ReadonlyMap<unknown, "start" | "end"> = new Map([
  ["PreToolUse", "start"],
  ["PostToolUse", "end"],
] as const);

/**
 * When Droid ran the hooks of a call. Their payloads have no call id, so only this time distinguishes two equal calls.
 */
function hookRun(context: LineContext, id: string, m: Fields): void {
  const at = HOOKS_OF_CALLS.get(m["hookEventName"]);
  const callId = asString(m["hookToolCallId"]);
  const [startMs, endMs] = [asCount(m["hookStartTime"]), asCount(m["hookEndTime"])];
  if (at === undefined || callId === undefined || startMs === undefined || endMs === undefined) return;
  context.sink.other({ kind: "hook_run", ...factBase(context, `run:${id}`), timeMs: startMs, callId, at, endMs });
}

function answer(context: LineContext, m: Fields, blocks: readonly Fields[]): void {
  const { state, sink } = context;
  const model = asString(m["modelId"]);
  if (model !== undefined && state.models?.includes(model) !== true) state.models = [...(state.models ?? []), model];
  const { first } = state;
  if (first === undefined) state.first = { key: state.promptKey, startMs: state.timeMs, endMs: state.timeMs };
  else if (first.key === state.promptKey) state.first = { ...first, endMs: state.timeMs };
  for (const block of blocks) {
    const [callId, name] = [asString(block["id"]), asString(block["name"])];
    if (block["type"] !== "tool_use" || callId === undefined || name === undefined) continue;
    const input = asObject(block["input"]);
    sink.toolUse(factBase(context, `use:${callId}`), {
      callId,
      name,
      executable: executableOf(input?.["command"]),
      skill: skillOf(name, input),
      mcpServer: mcpServerOf(name),
      inputDigest: inputDigest(block["input"]),
      files: writesOfCall(EDITORS, name, input),
    });
  }
}

function userMessage(context: LineContext, id: string, blocks: readonly Fields[]): void {
  const { file, state, sink } = context;
  const results = blocks.filter((block) => block["type"] === "tool_result");
  for (const block of results) {
    const callId = asString(block["tool_use_id"]);
    if (callId === undefined) continue;
    const spawnedAgentId = spawnedIn(block["content"]);
    const exitCode = exitCodeIn(block["content"]);
    const files = block["is_error"] === true ? undefined : writesOfResult(block["content"]);
    sink.toolResult(factBase(context, `result:${callId}`), {
      callId,
      status: block["is_error"] === true ? "error" : "success",
      ...(exitCode !== undefined && { exitCode }),
      ...(spawnedAgentId !== undefined && { spawnedAgentId }),
      ...(files !== undefined && { files }),
    });
  }
  const texts = blocks.flatMap((block) => (block["type"] === "text" ? (asString(block["text"]) ?? []) : []));
  if (results.length > 0 || texts.length === 0) return;
  const text = texts.join("\n");
  if (file.agentId !== undefined) {
    const agentType = /^Subagent type: (\S+)$/m.exec(text)?.[1];
    if (isTask(text) && agentType !== undefined) {
      sink.other({ kind: "subagent", ...factBase(context, `subagent:${file.agentId}`), agentType });
    }
    return;
  }
  state.promptKey = id;
  const origin = /^\s*<system-/.test(text) || isTask(text) ? "machine" : "human";
  sink.prompt(factBase(context, `prompt:${id}`), { origin, length: text.length });
}

/** The end of a turn. Droid's reasons other than `completed` are errors, unless the user stopped the turn. */
function turnOutcome(context: LineContext): void {
  const { o, state, sink } = context;
  if (state.copiedUntil !== undefined || state.isForked === true) return;
  const turnId = asString(o["turnId"]) ?? state.promptKey ?? String(state.timeMs);
  const reason = asCode(o["reason"]) ?? "_OTHER";
  const { httpStatus } = state;
  state.httpStatus = undefined;
  const base = factBase(context, `turn_end:${turnId}`);
  if (reason === "completed") sink.other({ kind: "turn_end", ...base });
  else if (STOPPED.test(reason)) sink.other({ kind: "interruption", ...base });
  else {
    sink.other({
      kind: "model_error",
      ...base,
      errorType: reason,
      ...(httpStatus !== undefined && { httpStatus }),
      final: true,
    });
  }
}

const STOPPED = /cancel|interrupt|abort/i;
