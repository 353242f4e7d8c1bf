import { idInAgent, isRandomId, isSequenceNumber, repeatedCallId } from "#core/rules/call-ids.ts";
import { executableOf } from "../shared/names/executables.ts";
import { skillOf } from "../shared/names/skill.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { asArray, asCount, asObject, asString, type Fields } from "../shared/payload/json.ts";
import { writesOfCall } from "../shared/payload/tool-writes.ts";
import { factBase, type KnownCall, type LineContext } from "./line-context.ts";
import { asksForTools } from "./model-calls.ts";
import { EDITORS, exitCodeIn, isDenial, mcpServerOf, SHELL_TOOL } from "./names.ts";

/** `tool.call`: a call of the current answer. */
export function toolUse(context: LineContext, event: Fields): void {
  const given = asString(event["toolCallId"]);
  const name = asString(event["name"]);
  if (given === undefined || name === undefined) return;
  const { unique } = newCall(context, given, name, asString(event["uuid"]) ?? String(context.timeMs));
  context.sink.toolUse(callBase(context, "use", unique), {
    callId: unique,
    name,
    executable: name === SHELL_TOOL ? executableOf(asObject(event["args"])?.["command"]) : undefined,
    skill: skillOf(name, event["args"]),
    mcpServer: mcpServerOf(name),
    inputDigest: inputDigest(event["args"]),
    givenId: isSequenceNumber(given) ? given : undefined,
    files: writesOfCall(EDITORS, name, event["args"]),
  });
  asksForTools(context);
}

/** `tool.result`: the end of a call, also if the hook of its end was stopped. */
export function toolResult(context: LineContext, event: Fields): void {
  const given = asString(event["toolCallId"]);
  if (given === undefined) return;
  const call = lastCall(context, given);
  const result = asObject(event["result"]) ?? {};
  const isError = result["isError"] === true;
  const error = isError ? outputText(result["output"]) : undefined;
  const callId = call?.unique ?? given;
  context.sink.toolResult(callBase(context, "result", callId), {
    callId,
    status: isDenial(error) ? "denied" : isError ? "error" : "success",
    exitCode: exitCodeIn(call?.name, error),
    spawnedAgentId: context.state.spawned?.findLast(([one]) => one === callId)?.[1],
    durationMs: asCount(result["durationMs"]),
  });
}

/** `subagent.spawned`: which call started or resumed a subagent, in the file of the agent that made the call. */
export function subagentSpawned(context: LineContext): void {
  const { o, state, sink } = context;
  const agentId = asString(o["subagentId"]);
  const given = asString(o["parentToolCallId"]);
  if (agentId === undefined) return;
  const callId = given === undefined ? undefined : (lastCall(context, given)?.unique ?? given);
  if (callId !== undefined) state.spawned = [...(state.spawned ?? []), [callId, agentId] as const].slice(-MAX_CALLS);
  sink.other({
    kind: "subagent",
    ...factBase(context, `subagent:${agentId}:${callId ?? ""}`),
    promptKey: undefined,
    agentId,
    agentType: asString(o["subagentName"]),
    parentCallId: callId,
    parentAgentId: context.agentId,
  });
}

/** The text of a tool's output, or of its parts. */
function outputText(output: unknown): string | undefined {
  const texts = asArray(output).flatMap((part) => asString(asObject(part)?.["text"]) ?? []);
  return asString(output) ?? (texts.length > 0 ? texts.join("\n") : undefined);
}

/** The last call with the provider's id. */
const lastCall = ({ state }: Pick<LineContext, "state">, given: string): KnownCall | undefined =>
  state.calls?.findLast((call) => call.given === given);

// --- internal ---

/** Enough for all calls that run at a time, and for the numbered ids of a session. */
const MAX_CALLS = 500;

/** Remembers a call under a unique id: the first call with a numbered id keeps it, in a subagent with the agent added. */
function newCall({ state, agentId }: LineContext, given: string, name: string, suffix: string): KnownCall {
  const calls = state.calls ?? [];
  const first = idInAgent(given, agentId);
  const isRepeated = !isRandomId(given) && calls.some((call) => call.given === given);
  const call = { given, name, unique: isRepeated ? repeatedCallId(first, suffix) : first };
  state.calls = [...calls, call].slice(-MAX_CALLS);
  return call;
}

function callBase(context: LineContext, kind: "use" | "result", callId: string) {
  const key = `${kind}:${callId}`;
  return factBase(context, key, isRandomId(callId) ? key : undefined);
}
