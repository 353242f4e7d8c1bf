import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { executableOf } from "../shared/names/executables.ts";
import { asObject, asString, parsedObject } from "../shared/payload/json.ts";
import { openCall, uniqueCallId } from "./call-ids.ts";
import { callKey, factBase, type Line, type LineContext, noteAnswerPart, noteInput } from "./line-context.ts";
import { outcomeOf, outputText } from "./outcome.ts";
import { mcpServerOf, shellCommandOf } from "./tools.ts";

/**
 * A call of the model. In code mode that is the script; calls by the script do not count.
 *
 * @param by who runs it: the agent or the provider
 */
export function toolCall(context: LineContext, by: "agent" | "provider"): void {
  const { p, state, timeMs, sink } = context;
  const type = String(p["type"]);
  const written = asString(p["call_id"]) ?? asString(p["id"]);
  const given = written ?? (by === "provider" ? `${type}@${timeMs}` : undefined);
  if (given === undefined) return;
  const callId = uniqueCallId(context, given);
  const namespace = asString(p["namespace"]);
  const name = asString(p["name"]) ?? type;
  const input = argumentsOf(p);
  const fact = {
    callId,
    givenId: isSequenceNumber(given) ? given : undefined,
    name: namespace === undefined ? name : `${namespace}.${name}`,
    executable: executableOf(shellCommandOf(input)),
    mcpServer: mcpServerOf(namespace ?? name),
  };
  sink.toolUse(factBase(context, callKey("use", context, callId)), fact, input ?? p["arguments"]);
  if (by === "provider") {
    const status = p["status"] === "failed" ? "error" : "success";
    sink.toolResult(factBase(context, callKey("result", context, callId)), { callId, status });
    noteAnswerPart(state);
    return;
  }
  noteAnswerPart(state, true);
  state.open = [...(state.open ?? []), callId].slice(-REMEMBERED_CALLS);
}

/** The output that the model received for its call. Later items about the call are ignored. */
export function toolOutput(context: LineContext): void {
  const { p, timeMs, state, sink } = context;
  const given = asString(p["call_id"]);
  if (given === undefined) return;
  const callId = openCall(state, given) ?? given;
  const text = outputText(p["output"]);
  const { status, exitCode, errorType } = outcomeOf(text);
  const fact = {
    callId,
    status,
    errorType,
    exitCode,
    // Subagents of the first form: only the call's result has the thread id
    spawnedAgentId: /^\{\s*"agent_id":\s*"([0-9a-f-]{36})"/.exec(text)?.[1],
  };
  sink.toolResult(factBase(context, callKey("result", context, callId)), fact, text);
  noteInput(state, timeMs);
  state.open = (state.open ?? []).filter((id) => id !== callId);
}

// --- internal ---

/** Limit for calls without output, which killed processes leave behind. */
const REMEMBERED_CALLS = 200;
const MAX_ARGUMENTS_CHARS = 8_192;

/** Arguments of a shell call; other arguments, and free text, contain no command. */
function argumentsOf(p: Line): Line | undefined {
  const given = p["arguments"] ?? p["action"];
  if (typeof given !== "string") return asObject(given);
  return given.length > MAX_ARGUMENTS_CHARS ? undefined : parsedObject(given);
}
