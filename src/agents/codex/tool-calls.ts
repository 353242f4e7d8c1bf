import { executableOf } from "../shared/names/executables.ts";
import { isBareCount } from "../shared/payload/call-ids.ts";
import { asObject, asString, parsedObject } from "../shared/payload/json.ts";
import { openCall, uniqueCallId } from "./call-ids.ts";
import { answering, asking, callKey, type Line, type LineContext, placeOf } from "./line-context.ts";
import { outcomeOf, outputText } from "./outcome.ts";
import { mcpServerOf, shellCommandOf } from "./tools.ts";

/**
 * A call as the model made it. In code mode that is the script; what the script calls is no call of the model's.
 *
 * @param by who carries it out: the program when it is `asked` to, or the provider that is `hosted` it
 */
export function toolCall(context: LineContext, by: "asked" | "hosted"): void {
  const { p, state, timeMs, sink } = context;
  const type = String(p["type"]);
  const written = asString(p["call_id"]) ?? asString(p["id"]);
  const given = written ?? (by === "hosted" ? `${type}@${timeMs}` : undefined);
  if (given === undefined) return;
  const callId = uniqueCallId(context, given);
  const namespace = asString(p["namespace"]);
  const name = asString(p["name"]) ?? type;
  sink.toolUse(placeOf(context, callKey("use", context, callId)), {
    callId,
    givenId: isBareCount(given) ? given : undefined,
    name: namespace === undefined ? name : `${namespace}.${name}`,
    executable: executableOf(shellCommandOf(argumentsOf(p))),
    mcpServer: mcpServerOf(namespace ?? name),
  });
  if (by === "hosted") {
    const status = p["status"] === "failed" ? "error" : "success";
    sink.toolResult(placeOf(context, callKey("result", context, callId)), { callId, status });
    answering(state);
    return;
  }
  answering(state, true);
  state.open = [...(state.open ?? []), callId].slice(-REMEMBERED_CALLS);
}

/** What the model was given for its call; what items say of that call later changes nothing any more. */
export function toolOutput(context: LineContext): void {
  const { p, timeMs, state, sink } = context;
  const given = asString(p["call_id"]);
  if (given === undefined) return;
  const callId = openCall(state, given) ?? given;
  const text = outputText(p["output"]);
  const { status, exitCode, errorType } = outcomeOf(text);
  sink.toolResult(placeOf(context, callKey("result", context, callId)), {
    callId,
    status,
    errorType,
    exitCode,
    // The first form of subagents names the thread in the call's result alone
    spawnedAgentId: /^\{\s*"agent_id":\s*"([0-9a-f-]{36})"/.exec(text)?.[1],
  });
  asking(state, timeMs);
  state.open = (state.open ?? []).filter((id) => id !== callId);
}

// --- internal ---

/** Calls that no output came for: a killed process leaves them behind. */
const REMEMBERED_CALLS = 200;
const MAX_ARGUMENTS_CHARS = 8_192;

/** Arguments of a shell call; those of others, and free text, have no command in them. */
function argumentsOf(p: Line): Line | undefined {
  const told = p["arguments"] ?? p["action"];
  if (typeof told !== "string") return asObject(told);
  return told.length > MAX_ARGUMENTS_CHARS ? undefined : parsedObject(told);
}
