import type { FactSink } from "#core/model/fact-sink.ts";
import { executableOf } from "../shared/names/executables.ts";
import { skillOf } from "../shared/names/skill.ts";
import { asCode, asCount, asObject, asString, parsedObject } from "../shared/payload/json.ts";
import type { JsonLine } from "../shared/transcript/json-line.ts";
import { UNREADABLE } from "../shared/transcript/read-lines.ts";
import { writesOfResult } from "./file-writes.ts";
import { endCall, type FileContext, factBase, type LineContext, type LineState, startCall } from "./line-context.ts";
import { isMachinePrompt, mcpServerOf } from "./names.ts";
import { foldersOf } from "./places.ts";
import { resultOf } from "./tool-result.ts";
import { subagentTurns, usageIn, withoutSubagents } from "./turn-usage.ts";

/**
 * Reads one line of `updates.jsonl`: passes its facts to the sink and updates the state.
 *
 * @returns the line's kind; `UNREADABLE` when it is no JSON object
 */
export function readLine(line: JsonLine, file: FileContext, state: LineState, sink: FactSink): unknown {
  const o = parsedObject(line.bytes);
  if (o === undefined) return UNREADABLE;
  const params = asObject(o["params"]);
  const update = asObject(params?.["update"]) ?? {};
  const meta = asObject(params?.["_meta"]) ?? {};
  const kind = update["sessionUpdate"];
  const seconds = asCount(o["timestamp"]);
  const timeMs = asCount(meta["agentTimestampMs"]) ?? (seconds === undefined ? state.timeMs : seconds * 1000);
  const lineId = `${asString(meta["eventId"]) ?? `${file.sessionId}:${line.bytes.length}`}:${timeMs}`;
  const owner = ownerOf(meta, file);
  if (owner !== file.sessionId && isCopied(owner, file, state)) return kind;
  state.timeMs = timeMs;
  const reader = READERS.get(String(kind));
  const context: LineContext = { update, meta, timeMs, owner, lineId, file, state, sink };
  enterTurn(context, meta["promptId"]);
  reader?.(context);
  return kind;
}

/** Kinds of lines, in recordings and in the program. */
export const KINDS: readonly string[] =
  `user_message_chunk agent_message_chunk agent_thought_chunk tool_call tool_call_update tool_call_delta_chunk plan
  available_commands_update current_mode_update config_option_update session_info_update usage_update
  turn_completed subagent_spawned subagent_progress subagent_finished hook_execution retry_state background_tasks
  auto_compact_started auto_compact_completed auto_compact_failed auto_compact_cancelled auto_continue_completed
  memory_flush_started memory_flush_completed memory_capture_activity memory_dream_queued memory_dream_started
  memory_dream_completed memory_session_saved hooks_changed project_trusted plugins_changed plugin_updates_installed
  session_status session_summary_generated session_recap session_recap_unavailable last_turn_summary
  compaction_checkpoint rewind_marker task_completed task_backgrounded scheduled_task_created scheduled_task_fired
  scheduled_task_deleted monitor_event model_auto_switched model_changed image_dropped goal_updated
  pending_interaction interaction_resolved plan_kept plan_cleared plan_executing`.split(/\s+/);

/** Whether two lines belong to one prompt; `undefined` for lines without an index. */
const promptIndexOf = (update: Readonly<Record<string, unknown>>): number | undefined =>
  asCount(asObject(update["_meta"])?.["promptIndex"]);

/** The open call that starts a subagent. With several candidates, the calls' results show which one it was. */
export function spawningCall(open: LineState["openCalls"] = [], description: string | undefined): string | undefined {
  const calls = open.filter((call) => call.description !== undefined);
  const matching = calls.filter((call) => call.description === description);
  const [parent, other] = matching.length > 0 ? matching : calls;
  return other === undefined ? parent?.callId : undefined;
}

// --- internal ---

const READERS: ReadonlyMap<string, (context: LineContext) => void> = new Map([
  ["hook_execution", hookRun],
  ["user_message_chunk", userMessage],
  ["agent_message_chunk", answerPart],
  ["agent_thought_chunk", answerPart],
  ["tool_call", toolCall],
  ["tool_call_update", toolUpdate],
  ["retry_state", retry],
  ["subagent_spawned", subagent],
  ["auto_compact_completed", compaction],
  ["turn_completed", turnCompleted],
]);

/** The session in a line's id. A fork copies lines with their ids. */
function ownerOf(meta: LineContext["meta"], { sessionId }: FileContext): string {
  const id = asString(meta["eventId"]);
  return id?.replace(/-\d+$/, "") ?? sessionId;
}

/** Whether a copied line is skipped: the session that wrote it has it too, unless it was deleted. */
function isCopied(owner: string, { searched }: FileContext, state: LineState): boolean {
  if (state.copied?.from !== owner) {
    state.copied = { from: owner, isSkipped: foldersOf(searched, owner).length > 0 };
  }
  return state.copied.isSkipped;
}

/** A hook's line can name the prompt's id before the first line that belongs to the prompt. */
function hookRun(context: LineContext): void {
  const { update, state } = context;
  const id = asString(update["prompt_id"]);
  if (update["event_name"] !== "user_prompt_submit" || id === undefined || id === state.turn?.id) return;
  if (state.prompt === undefined) state.nextPromptId = id;
  else enterTurn(context, id);
}

function userMessage(context: LineContext): void {
  const { update, timeMs, state, lineId } = context;
  const meta = asObject(update["_meta"]);
  const index = promptIndexOf(update);
  if (index !== undefined && index === state.promptIndex) return;
  // The process was killed before its answer began
  if (state.prompt !== undefined) startTurn(context, state.prompt.key);
  const content = asObject(update["content"]);
  const text = asString(content?.["text"]);
  state.promptIndex = index;
  state.prompt = {
    timeMs,
    length: text?.length,
    isMachine: meta?.["hideFromScrollback"] === true || isMachinePrompt(text, undefined),
    model: asString(meta?.["modelId"]),
    key: `prompt:${lineId}`,
  };
  const id = state.nextPromptId;
  state.nextPromptId = undefined;
  if (id !== undefined) enterTurn(context, id);
}

/** The turn of a line that names a prompt. */
function enterTurn(context: LineContext, promptId: unknown): void {
  const { state, timeMs } = context;
  const id = asString(promptId);
  if (id === undefined || id === state.turn?.id) return;
  if (state.prompt !== undefined) startTurn(context, id);
  else state.turn = { id, startMs: timeMs };
}

/** Starts the turn of the waiting prompt. */
function startTurn(context: LineContext, id: string): void {
  const { state, sink, file } = context;
  const { prompt } = state;
  if (prompt === undefined) return;
  state.prompt = undefined;
  state.turn = { id, startMs: prompt.timeMs, model: prompt.model, claims: prompt.key };
  const isMachine = prompt.isMachine || isMachinePrompt(undefined, id);
  if (file.agentId === undefined) {
    const base = factBase({ ...context, timeMs: prompt.timeMs }, `prompt:${id}`, `prompt:${id}`);
    sink.prompt(base, { origin: isMachine ? "machine" : "human", length: prompt.length });
  }
  // Grok asks the model immediately; the user's own commands can end without a request
  if (isMachine) turnRecord(context);
}

/** A part of an answer shows that the turn has usage, even if the turn is killed before its end. */
function answerPart(context: LineContext): void {
  if (context.state.turn !== undefined && context.state.turn.hasRecord === undefined) turnRecord(context);
}

/** A record of a turn whose usage is unknown until its end. */
function turnRecord(context: LineContext): void {
  const { state, sink, timeMs } = context;
  const { turn } = state;
  if (turn === undefined) return;
  state.turn = { ...turn, hasRecord: true };
  const base = factBase({ ...context, timeMs: turn.startMs }, `turn:${turn.id}`, `turn:${turn.id}`);
  const endMs = Math.max(timeMs, turn.startMs);
  sink.modelCall(base, { model: turn.model, startMs: turn.startMs, endMs, complete: false, covers: "turn" });
}

function toolCall(context: LineContext): void {
  const { update, sink } = context;
  const given = asString(update["toolCallId"]);
  const name = asString(asObject(asObject(update["_meta"])?.["x.ai/tool"])?.["name"]) ?? asString(update["title"]);
  if (given === undefined || name === undefined) return;
  answerPart(context);
  const input = asObject(update["rawInput"]);
  const callId = startCall(context, given, name === SPAWN_TOOL ? (asString(input?.["description"]) ?? "") : undefined);
  const executable = executableOf(input?.["command"]);
  const skill = skillOf(name, input);
  sink.toolUse(factBase(context, `use:${callId}`), { callId, name, executable, mcpServer: mcpServerOf(name), skill });
}

const SPAWN_TOOL = "spawn_subagent";

/** The end of a call; other updates of it are skipped. */
function toolUpdate(context: LineContext): void {
  const { update, sink, state } = context;
  const given = asString(update["toolCallId"]);
  const status = asString(update["status"]);
  if (given === undefined || (status !== "completed" && status !== "failed")) return;
  const callId = endCall(state, given) ?? given;
  const result = resultOf(update["rawOutput"], status);
  const files = result.status === "success" ? writesOfResult(update["rawOutput"]) : [];
  sink.toolResult(factBase(context, `result:${callId}`), { callId, ...result, ...(files.length > 0 && { files }) });
}

/** A failed request that is repeated; the last failure is in the turn's last line. */
function retry(context: LineContext): void {
  const { update, sink, lineId } = context;
  if (update["type"] !== "retrying") return;
  const errorType = asCode(update["error_type"]) ?? "_OTHER";
  const httpStatus = httpStatusIn(update["reason"]);
  sink.other({
    kind: "model_error",
    ...factBase(context, `error:${lineId}`),
    errorType,
    ...(httpStatus !== undefined && { httpStatus }),
    final: false,
  });
}

function subagent(context: LineContext): void {
  const { update, sink, state, file } = context;
  const childId = asString(update["child_session_id"]) ?? asString(update["subagent_id"]);
  if (childId === undefined) return;
  state.children = [...new Set([...(state.children ?? []), childId])];
  const parentCallId = spawningCall(state.openCalls, asString(update["description"]));
  const { agentId: _, ...base } = factBase(context, `subagent:${childId}`);
  if (file.agentId === undefined) {
    sink.other({ kind: "session", ...base, key: `subagent_session:${childId}`, subagentSessionId: childId });
  }
  const agentType = asString(update["subagent_type"]);
  sink.other({
    kind: "subagent",
    ...base,
    agentId: childId,
    ...(agentType !== undefined && { agentType }),
    ...(parentCallId !== undefined && { parentCallId }),
    ...(file.agentId !== undefined && { parentAgentId: file.agentId }),
  });
}

function compaction(context: LineContext): void {
  context.sink.other({ kind: "compaction", ...factBase(context, `compaction:${context.lineId}`), trigger: "auto" });
}

/** The end of a turn, with its usage. For a turn that was killed, the next process writes the line, without usage. */
function turnCompleted(context: LineContext): void {
  const { update, sink, state, timeMs } = context;
  const id = asString(update["prompt_id"]);
  if (id === undefined) return;
  enterTurn(context, id);
  const reason = asString(update["stop_reason"]);
  if (reason === "interrupted") {
    leaveOpen(context);
    return;
  }
  turnUsage(context);
  const base = factBase(context, `turn_end:${id}`, `turn_end:${id}`);
  if (reason === "error") {
    const httpStatus = httpStatusIn(update["agent_result"]);
    sink.other({
      kind: "model_error",
      ...base,
      errorType: "api",
      ...(httpStatus !== undefined && { httpStatus }),
      final: true,
    });
  } else if (reason === "cancelled") sink.other({ kind: "interruption", ...base });
  else {
    const durationMs = asCount(update["elapsed_ms"]);
    sink.other({ kind: "turn_end", ...base, ...(durationMs !== undefined && { durationMs }) });
  }
  state.turn = { id, startMs: timeMs, hasRecord: true };
  state.openCalls = undefined;
}

function turnUsage(context: LineContext): void {
  const { update, sink, state, timeMs, file } = context;
  const { turn } = state;
  if (turn === undefined) return;
  const elapsedMs = asCount(update["elapsed_ms"]);
  const startMs = elapsedMs === undefined ? turn.startMs : Math.min(turn.startMs, timeMs - elapsedMs);
  const all = usageIn(update["usage"]);
  const children = (state.children ?? []).flatMap((child) =>
    subagentTurns(child, { startMs, endMs: timeMs }, file.searched, file.roots),
  );
  const own = withoutSubagents(all, children);
  const models = Object.keys(own).sort();
  const first = turn.model !== undefined && models.includes(turn.model) ? turn.model : models[0];
  for (const model of models) {
    const key = model === first ? `turn:${turn.id}` : `turn:${turn.id}:${model}`;
    const base = factBase({ ...context, timeMs: turn.startMs }, key, key);
    const fact = { model: model === "" ? turn.model : model, ...own[model], complete: true };
    sink.modelCall(base, { ...fact, startMs: turn.startMs, endMs: timeMs, covers: "turn" });
  }
}

/** Calls of a turn that was killed never ended. */
function leaveOpen(context: LineContext): void {
  const { state, sink } = context;
  for (const { callId } of state.openCalls ?? []) {
    sink.toolResult(factBase(context, `result:${callId}`, `left:${callId}`), { callId, status: "unfinished" });
  }
  state.openCalls = undefined;
}

/** The HTTP status in a message such as `API error (status 503 Service Unavailable): …`. */
function httpStatusIn(message: unknown): number | undefined {
  const status = /\(status (\d{3})\b/.exec(asString(message) ?? "")?.[1];
  return status === undefined ? undefined : Number(status);
}
