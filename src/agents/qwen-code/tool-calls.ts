import type { ToolStatus } from "#core/model/transcript.ts";
import { idInAgent, isRandomId, isSequenceNumber, repeatedCallId } from "#core/rules/call-ids.ts";
import { writesOfDisplay } from "../shared/gemini/file-writes.ts";
import { editedLines, exitCodeIn, outcomeOf, SHELL_TOOL } from "../shared/gemini/tool-result.ts";
import { executableOf } from "../shared/names/executables.ts";
import { skillOf } from "../shared/names/skill.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { asArray, asCode, asCount, asExitCode, asObject, asString, type Fields } from "../shared/payload/json.ts";
import { factBase, type LineContext } from "./line-context.ts";
import { asksForTools } from "./model-calls.ts";
import { agentOf, EDITORS, isDenial, mcpServerOf, spawnedAgent, subagentIdOf } from "./names.ts";

/** A call in an answer of this file's agent. */
export function toolUse(context: LineContext, call: Fields): void {
  const given = asString(call["id"]);
  const name = asString(call["name"]);
  if (given === undefined || name === undefined || isUnnamedCopy(context, given)) return;
  const callId = uniqueId(context, given);
  context.sink.toolUse(callBase(context, "use", callId), {
    callId,
    name,
    executable: name === SHELL_TOOL ? executableOf(asObject(call["args"])?.["command"]) : undefined,
    skill: skillOf(name, call["args"]),
    mcpServer: mcpServerOf(name),
    inputDigest: inputDigest(call["args"]),
    givenId: isSequenceNumber(given) ? given : undefined,
    files: EDITORS.has(name) ? writesOfDisplay(undefined, asString(asObject(call["args"])?.["file_path"])) : undefined,
  });
}

/** `tool_result`: the results of an answer's calls, written together when the last one has ended. */
export function toolResult(context: LineContext): void {
  const { o } = context;
  const result = asObject(o["toolCallResult"]) ?? {};
  const given = asString(result["callId"]);
  if (given === undefined || isUnnamedCopy(context, given)) return;
  const { name, response } = responseOf(o);
  const display = asObject(result["resultDisplay"]);
  const error = asString(response["error"]);
  // A subagent's file has no status
  const status = result["status"] ?? (response["error"] === undefined ? "success" : "error");
  const outcome = statusOf(status, error, result["errorType"]);
  if (outcome === undefined) return;
  const callId = knownId(context, given);
  const lines = outcome.status === "success" ? editedLines(display) : undefined;
  context.sink.toolResult(callBase(context, "result", callId), {
    callId,
    ...outcome,
    exitCode: asExitCode(display?.["exitCode"]) ?? exitCodeIn(name, error ?? asString(response["output"])),
    linesAdded: lines?.added,
    linesRemoved: lines?.removed,
    spawnedAgentId: spawnedAgent(name, given, display, undefined),
    durationMs: asCount(result["durationMs"]),
    files: lines === undefined ? undefined : writesOfDisplay(display, undefined),
  });
}

/** `qwen-code.tool_call`: written when one call ends; a process that is killed during the next one leaves no other result. */
export function toolCallEvent(context: LineContext, event: Fields): void {
  const given = asString(event["call_id"]);
  if (given === undefined || isUnnamedCopy(context, given)) return;
  const answer = context.state.answers?.findLast((one) => one.responseId === event["response_id"]);
  const agentId = subagentIdOf(agentOf(event["prompt_id"]));
  if (answer !== undefined && answer.place.agentId === agentId) asksForTools(context, answer);
  // The subagent's file has these calls; ids that restart are known only there
  if (agentId !== undefined && !isRandomId(given)) return;
  const outcome = statusOf(event["status"], asString(event["error"]), event["error_type"]);
  if (outcome === undefined) return;
  const callId = agentId === undefined ? knownId(context, given) : given;
  const name = asString(event["function_name"]);
  const durationMs = asCount(event["duration_ms"]);
  if (agentId !== undefined && name !== undefined)
    context.sink.toolUse(callBase({ ...context, timeMs: context.timeMs - (durationMs ?? 0) }, "use", callId, agentId), {
      callId,
      name,
      mcpServer: mcpServerOf(name),
      inputDigest: inputDigest(event["function_args"]),
    });
  context.sink.toolResult(callBase(context, "result", callId, agentId), { callId, ...outcome, durationMs });
}

/** The answer to a call as the model received it. */
export function responseOf(o: Fields): { readonly name: string | undefined; readonly response: Fields } {
  for (const part of asArray(asObject(o["message"])?.["parts"])) {
    const answer = asObject(asObject(part)?.["functionResponse"]);
    if (answer !== undefined) return { name: asString(answer["name"]), response: asObject(answer["response"]) ?? {} };
  }
  return { name: undefined, response: {} };
}

/** The id of the last call that the provider gave this id. */
const knownId = ({ state }: LineContext, given: string): string =>
  state.counted?.findLast(([id]) => id === given)?.[1] ?? given;

// --- internal ---

/** A copied call whose id other sessions have too: it cannot be known whether it was counted in the original session. */
const isUnnamedCopy = ({ isCopy }: LineContext, given: string): boolean => isCopy && !isRandomId(given);

/** A session has few numbered ids. */
const MAX_COUNTED = 500;

function statusOf(
  status: unknown,
  error: string | undefined,
  type: unknown,
): { readonly status: ToolStatus; readonly errorType?: string | undefined } | undefined {
  if (status === "error" && isDenial(type)) return { status: "denied" };
  const outcome = outcomeOf(status, error, false);
  if (outcome?.status !== "error") return outcome;
  return { status: "error", errorType: outcome.errorType ?? asCode(type) };
}

/** A unique id for a new call: the first one with a numbered id keeps it, in a subagent with the agent added. */
function uniqueId({ state, uuid, agentId }: LineContext, given: string): string {
  if (isRandomId(given)) return given;
  const counted = state.counted ?? [];
  const first = idInAgent(given, agentId);
  const unique = counted.some(([id]) => id === given) ? repeatedCallId(first, uuid) : first;
  state.counted = [...counted, [given, unique] as const].slice(-MAX_COUNTED);
  return unique;
}

function callBase(context: LineContext, kind: "use" | "result", callId: string, agentId = context.agentId) {
  const key = `${kind}:${callId}`;
  return factBase(context, key, isRandomId(callId) ? key : undefined, agentId);
}
