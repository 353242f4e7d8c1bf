// Lines as written by 0.24.4, recorded and read in the program, 2026-11-26; rules in README.md beside this file
import type { FactSink } from "#core/model/fact-sink.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asArray, asCode, asObject, asString, asTimeMs, type Fields, parsedObject } from "../shared/payload/json.ts";
import type { JsonLine } from "../shared/transcript/json-line.ts";
import { UNREADABLE } from "../shared/transcript/read-lines.ts";
import { type ChatState, factBase, type LineContext } from "./line-context.ts";
import { asksForTools, modelCall, modelError } from "./model-calls.ts";
import { toolCallEvent, toolResult, toolUse } from "./tool-calls.ts";

/** Known kinds of lines, with or without facts. System lines have the kind of their content. */
export const KINDS: readonly string[] =
  `user assistant tool_result at_command attribution_snapshot background_task_completed branch_checkpoint chat_compression
  custom_title file_history_snapshot goal_state goal_turn_end omni_recall parent_session rewind session_artifact_event
  session_artifact_snapshot session_model session_recording_degraded session_source session_sources_snapshot slash_command
  turn_result ui_telemetry user_text_elements`.split(/\s+/);

/** Reads one line. @returns its kind; `UNREADABLE` when it is no JSON object */
export function readLine(line: JsonLine, state: ChatState, sink: FactSink, agentId: string | undefined): unknown {
  const o = parsedObject(line.bytes);
  if (o === undefined) return UNREADABLE;
  const kind = o["type"] === "system" ? o["subtype"] : o["type"];
  // A fork starts with the lines of the session that it continues. They count where they are found first
  const original = asString(asObject(o["forkedFrom"])?.["messageUuid"]);
  const isCopy = o["forkedFrom"] !== undefined;
  const uuid = original ?? asString(o["uuid"]);
  if (uuid === undefined) return kind;
  const timeMs = asTimeMs(o["timestamp"]) ?? state.timeMs;
  state.timeMs = timeMs;
  const context: LineContext = { o, uuid, timeMs, agentId, isCopy, state, sink };
  if (agentId === undefined && !isCopy) about(context);
  switch (kind) {
    case "user":
      if (agentId === undefined) prompt(context);
      break;
    case "assistant":
      assistant(context);
      break;
    case "tool_result":
      toolResult(context);
      break;
    case "ui_telemetry":
      telemetry(context);
      break;
    case "chat_compression": {
      const trigger = asCode(asObject(asObject(o["systemPayload"])?.["info"])?.["triggerReason"]);
      sink.other({ kind: "compaction", ...factBase(context, `compaction:${uuid}`, `compaction:${uuid}`), trigger });
      break;
    }
    default:
  }
  return kind;
}

/** The text that the user submitted; `undefined` if it has other parts. */
export function promptText(o: Fields): string | undefined {
  const shown = asString(asObject(o["systemPayload"])?.["displayText"]);
  const parts = asArray(asObject(o["message"])?.["parts"]);
  return shown ?? (parts.length === 1 ? asString(asObject(parts[0])?.["text"]) : undefined);
}

/** The tool calls in an answer. */
export const functionCalls = (o: Fields): readonly Fields[] =>
  asArray(asObject(o["message"])?.["parts"]).flatMap((part): Fields[] => {
    const call = asObject(asObject(part)?.["functionCall"]);
    return call === undefined ? [] : [call];
  });

// --- internal ---

/** User lines that the program writes and that start a turn. */
const MACHINE_PROMPTS: ReadonlySet<unknown> = new Set(["notification", "cron", "goal_runtime"]);

/** Messages that the user sends while tools run, with the subtype `mid_turn_user_message`, start no turn. */
function prompt(context: LineContext): void {
  const { o, uuid, state, sink } = context;
  const isMachine = MACHINE_PROMPTS.has(o["subtype"]);
  if (o["subtype"] !== undefined && !isMachine) return;
  state.promptKey = uuid;
  sink.prompt(factBase(context, `prompt:${uuid}`, `prompt:${uuid}`), {
    origin: isMachine ? "machine" : "human",
    length: isMachine ? undefined : promptText(o)?.length,
  });
}

function assistant(context: LineContext): void {
  const calls = functionCalls(context.o);
  for (const call of calls) toolUse(context, call);
  // The line of the answer's usage is right before it. A subagent's answers are in the main file
  const answer = context.agentId === undefined ? context.state.answers?.at(-1) : undefined;
  if (calls.length > 0 && answer !== undefined && answer.place.agentId === undefined) asksForTools(context, answer);
}

function telemetry(context: LineContext): void {
  const event = asObject(asObject(context.o["systemPayload"])?.["uiEvent"]) ?? {};
  switch (event["event.name"]) {
    case "qwen-code.api_response":
      modelCall(context, event);
      break;
    case "qwen-code.api_error":
      modelError(context, event);
      break;
    case "qwen-code.tool_call":
      toolCallEvent(context, event);
      break;
    default:
  }
}

/** Version, folder and branch, whenever one of them changes. */
function about(context: LineContext): void {
  const { o, uuid, state, sink } = context;
  const facts = {
    agentVersion: asString(o["version"]),
    cwd: asString(o["cwd"]),
    // It writes `HEAD` while no branch is checked out
    gitBranch: o["gitBranch"] === "HEAD" ? undefined : asString(o["gitBranch"]),
    branches: "followed" as const,
  };
  // The state must not contain names
  const digest = payloadDigest(facts);
  if (state.about === digest) return;
  state.about = digest;
  sink.other({ kind: "session", ...factBase(context, `session:${uuid}`), promptKey: undefined, ...facts });
}
