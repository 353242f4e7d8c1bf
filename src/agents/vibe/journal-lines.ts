// Journals as written by 3.0.3, recorded and read in the program, 2026-11-26; rules in README.md beside this file
import type { FactSink } from "#core/model/fact-sink.ts";
import { asArray, asCode, asCount, asString, type Fields, parsedObject } from "../shared/payload/json.ts";
import type { JsonLine } from "../shared/transcript/json-line.ts";
import { UNREADABLE } from "../shared/transcript/read-lines.ts";
import {
  factBase,
  fieldsIn,
  type JournalLine,
  type JournalOwner,
  type JournalState,
  keyOf,
  withMember,
} from "./journal-state.ts";
import { modelAnswer, modelRequest } from "./model-calls.ts";
import { promptText } from "./names.ts";
import { denied, toolAction, toolEnded, toolMessages } from "./tool-calls.ts";

/** Known kinds of lines, with or without facts. */
export const KINDS: readonly string[] =
  `command_reserved core_input projection_delta action_intent action_result process_operation_dispatched
  process_state_changed process_notification_submitted callback_registered callback_resolved receipt_succeeded
  receipt_failed`.split(/\s+/);

/** Reads one line. @returns its kind; `UNREADABLE` when it is no JSON object */
export function readLine(line: JsonLine, state: JournalState, of: JournalOwner, sink: FactSink): unknown {
  const o = parsedObject(line.bytes);
  if (o === undefined) return UNREADABLE;
  const [kind, sequence] = [o["type"], asCount(o["sequence"])];
  // A resumed process can write the last lines again
  if (sequence === undefined || sequence <= state.readTo) return kind;
  if (sequence > state.readTo + 1) state.hasGap = true;
  state.readTo = sequence;
  readKind(kind, { payload: fieldsIn(o, "payload"), sequence, state, of, sink });
  return kind;
}

// --- internal ---

function readKind(kind: unknown, line: JournalLine): void {
  const { payload, state } = line;
  switch (kind) {
    case "command_reserved":
      state.isInjected = fieldsIn(payload, "params")["injected"] === true;
      break;
    case "action_intent":
      intent(line, fieldsIn(payload, "request"));
      break;
    case "action_result":
      // A killed process may write no more lines, so a model call counts from here on
      modelAnswer(line, fieldsIn(payload, "result"), { isTimed: false });
      break;
    case "core_input": {
      const input = fieldsIn(payload, "input");
      state.timeMs = asCount(fieldsIn(input, "determinism")["time_unix_ms"]) ?? state.timeMs;
      const observed = asArray(fieldsIn(payload, "transition_shape")["observations"]);
      command(line, fieldsIn(input, "command"), observed);
      break;
    }
    default:
  }
}

/** What the program is about to do. */
function intent(line: JournalLine, request: Fields): void {
  const turnId = asString(request["turn_id"]);
  if (turnId !== undefined) startTurn(line, turnId);
  switch (request["type"]) {
    case "llm_call":
      toolMessages(line, request);
      modelRequest(line, request);
      break;
    case "hook_call": {
      const call = fieldsIn(fieldsIn(request, "input"), "tool_call");
      const [actionId, callId] = [asString(request["action_id"]), asString(call["call_id"])];
      if (actionId !== undefined && callId !== undefined && request["hook"] === "pre_tool_call")
        line.state.actions = withMember(line.state.actions, [actionId, callId]);
      break;
    }
    default:
      toolAction(line, request);
  }
}

/** A turn that a notification or another agent started has no prompt in the journal. */
function startTurn(line: JournalLine, turnId: string): void {
  const { state, sink, of } = line;
  state.turn = turnId;
  if (state.isMachineTurn === true && of.agentId === undefined)
    sink.prompt(factBase(line, keyOf.prompt(turnId), { globalKey: keyOf.prompt(turnId) }), { origin: "machine" });
  state.isMachineTurn = undefined;
}

/** What happened. Only these lines have a time. */
function command(line: JournalLine, event: Fields, observed: readonly unknown[]): void {
  switch (event["type"]) {
    case "user_message":
      userMessage(line, event, observed);
      break;
    case "completion_succeeded":
    case "completion_failed":
      modelAnswer(line, event, { isTimed: true });
      break;
    case "hook_completed":
      denied(line, event);
      break;
    case "tool_succeeded":
    case "tool_failed":
      toolEnded(line, event);
      break;
    default:
      if (observed.includes("turn_started")) line.state.isMachineTurn = true;
  }
  turnState(line, event, observed);
}

/** A message that steers the running turn starts none. A subagent's task is no prompt. */
function userMessage(line: JournalLine, event: Fields, observed: readonly unknown[]): void {
  const { state, sink, of } = line;
  const turnId = asString(event["turn_id"]);
  const isInjected = state.isInjected === true;
  state.isInjected = undefined;
  if (turnId === undefined || (event["mode"] === "steer" && !observed.includes("turn_started"))) return;
  state.turn = turnId;
  if (of.agentId !== undefined) return;
  sink.prompt(factBase(line, keyOf.prompt(turnId), { globalKey: keyOf.prompt(turnId) }), {
    origin: isInjected ? "machine" : "human",
    length: isInjected ? undefined : promptText(event["content"])?.length,
  });
}

function turnState(line: JournalLine, event: Fields, observed: readonly unknown[]): void {
  const { state, sink, sequence } = line;
  const turnId = state.turn ?? String(sequence);
  const error = fieldsIn(event, "error");
  const isFailed = observed.includes("turn_failed");
  if (isFailed || event["type"] === "completion_failed") {
    // The next request of the same turn is another attempt
    const key = isFailed ? keyOf.failure(turnId) : `error:${asString(event["action_id"]) ?? sequence}`;
    sink.other({
      kind: "model_error",
      ...factBase(line, key),
      errorType: asCode(error["code"]) ?? "_OTHER",
      httpStatus: asCount(fieldsIn(error, "details")["httpStatus"]),
      final: isFailed,
    });
  }
  if (observed.includes("turn_interrupted"))
    sink.other({ kind: "interruption", ...factBase(line, keyOf.interruption(turnId)) });
  if (observed.includes("turn_completed")) sink.other({ kind: "turn_end", ...factBase(line, keyOf.turnEnd(turnId)) });
  if (observed.includes("context_compacted"))
    sink.other({ kind: "compaction", ...factBase(line, `compaction:${sequence}`), trigger: state.compaction });
}
