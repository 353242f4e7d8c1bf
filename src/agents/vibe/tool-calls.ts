import { idInAgent, isRandomId, isSequenceNumber, repeatedCallId } from "#core/rules/call-ids.ts";
import { executableOf } from "../shared/names/executables.ts";
import { isSkillTool, skillOf } from "../shared/names/skill.ts";
import { asArray, asExitCode, asObject, asString, type Fields, parsedJson } from "../shared/payload/json.ts";
import { writesOfCall } from "../shared/payload/tool-writes.ts";
import { factBase, fieldsIn, type JournalLine, keyOf, memberOf, withMember, without } from "./journal-state.ts";
import { calledTool, EDITORS, isDenial, isKilled, mcpServerOf, SHELL_TOOL, SPAWN_TOOL } from "./names.ts";

/** A tool starts to run. The calls of a program that `run_typescript` runs are in no answer. */
export function toolAction(line: JournalLine, request: Fields): void {
  const { state, sink } = line;
  const [actionId, given] = [asString(request["action_id"]), asString(request["call_id"])];
  const name = calledTool(request["call"]);
  if (actionId === undefined || given === undefined || name === undefined) return;
  const callId = lastCall(line, given);
  state.actions = withMember(state.actions, [actionId, callId]);
  if (memberOf(state.open, callId) !== undefined) return;
  state.open = withMember(state.open, [callId, name]);
  const input = fieldsIn(fieldsIn(request, "call"), "arguments");
  sink.toolUse(factBase(line, keyOf.use(callId)), {
    callId,
    name,
    executable: name === SHELL_TOOL ? executableOf(input["command"]) : undefined,
    skill: skillOf(name, input),
    mcpServer: mcpServerOf(name),
    // A subagent names the action that started it
    givenId: name === SPAWN_TOOL ? actionId : undefined,
    files: writesOfCall(EDITORS, name, input),
  });
}

/** A call in an answer. Some run without an action, and calls with wrong arguments do not run at all. */
export function toolUse(line: JournalLine, call: Fields, place: string): void {
  const { state, sink } = line;
  const [given, name] = [asString(call["id"]), asString(call["name"])];
  if (given === undefined || name === undefined) return;
  const callId = newCall(line, given, place);
  state.open = withMember(state.open, [callId, name]);
  const isRead = name === SHELL_TOOL || isSkillTool(name) || Object.hasOwn(EDITORS, name);
  const input = isRead ? asObject(parsedJson(call["arguments_json"])) : undefined;
  sink.toolUse(factBase(line, keyOf.use(callId)), {
    callId,
    name,
    executable: name === SHELL_TOOL ? executableOf(input?.["command"]) : undefined,
    skill: skillOf(name, input),
    mcpServer: mcpServerOf(name),
    givenId: isSequenceNumber(given) ? given : undefined,
    files: writesOfCall(EDITORS, name, input),
  });
}

/** A tool ended. A command that exits with an error code is a success. */
export function toolEnded(line: JournalLine, event: Fields): void {
  const [actionId, given] = [asString(event["action_id"]), asString(event["call_id"])];
  const ofAction = actionId === undefined ? undefined : memberOf(line.state.actions, actionId);
  const callId = ofAction ?? (given === undefined ? undefined : lastCall(line, given));
  if (callId === undefined) return;
  const result = fieldsIn(event, "result");
  const output = asObject(result["structured_content"]);
  if (isKilled(memberOf(line.state.open, callId), output)) {
    line.state.open = without(line.state.open, callId);
    return;
  }
  const isFailure = event["type"] === "tool_failed" || result["type"] === "failure";
  const status = !isFailure ? "success" : isDenial(fieldsIn(result, "error")["code"]) ? "denied" : "error";
  end(line, callId, status, asExitCode(output?.["returncode"]));
}

/** A hook that ran before a tool refused the call. */
export function denied(line: JournalLine, event: Fields): void {
  const { state } = line;
  const actionId = asString(event["action_id"]);
  const callId = actionId === undefined ? undefined : memberOf(state.actions, actionId);
  const result = fieldsIn(event, "result");
  if (actionId !== undefined && result["hook"] === "pre_tool_call") state.actions = without(state.actions, actionId);
  if (callId !== undefined && fieldsIn(result, "output")["type"] === "skip") end(line, callId, "denied");
}

/** The results that the next request gives to the model, for calls that ran without an action. */
export function toolMessages(line: JournalLine, request: Fields): void {
  const messages = asArray(fieldsIn(fieldsIn(request, "model_input"), "messages")["messages"]);
  for (const message of messages) {
    const fields = asObject(message) ?? {};
    const given = fields["role"] === "tool" ? asString(fields["tool_call_id"]) : undefined;
    const callId = given === undefined ? undefined : lastCall(line, given);
    if (callId === undefined || memberOf(line.state.open, callId) === undefined) continue;
    end(line, callId, fields["outcome"] === "success" ? "success" : "error");
  }
}

// --- internal ---

function newCall({ state, of }: JournalLine, given: string, place: string): string {
  const first = idInAgent(given, of.agentId);
  if (isRandomId(given)) return first;
  const callId = memberOf(state.given, given) === undefined ? first : repeatedCallId(first, place);
  state.given = withMember(state.given, [given, callId]);
  return callId;
}

const lastCall = ({ state, of }: JournalLine, given: string): string =>
  memberOf(state.given, given) ?? idInAgent(given, of.agentId);

function end(line: JournalLine, callId: string, status: "success" | "error" | "denied", exitCode?: number): void {
  const { state, sink } = line;
  const name = memberOf(state.open, callId);
  state.open = without(state.open, callId);
  sink.toolResult(factBase(line, keyOf.result(callId)), {
    callId,
    status,
    exitCode: name === undefined || name === SHELL_TOOL ? exitCode : undefined,
  });
}
