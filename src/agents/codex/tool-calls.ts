import { defined } from "../../model/defined.ts";
import type { EntryOf } from "../../model/transcript.ts";
import { executableOf } from "../shared/names/executables.ts";
import { isBareCount } from "../shared/payload/call-ids.ts";
import { asObject, asString, parsedObject } from "../shared/payload/json.ts";
import { openCall, uniqueCallId } from "./call-ids.ts";
import { outcomeOf, outputText } from "./outcome.ts";
import { answering, asking, at, callKey, type Here, type Line, type Read } from "./state.ts";
import { mcpServerOf, shellCommandOf } from "./tools.ts";

/**
 * A call as the model made it. In code mode that is the script; what the script calls is no call of the model's.
 *
 * @param by who carries it out: the program when it is `asked` to, or the provider that is `hosted` it
 */
export function toolCall(here: Here, by: "asked" | "hosted"): Read {
  const { p, state } = here;
  const type = String(p["type"]);
  const told = asString(p["call_id"]) ?? asString(p["id"]);
  const given = told ?? (by === "hosted" ? `${type}@${here.timeMs}` : undefined);
  if (given === undefined) return { entries: [], state };
  const { callId, used } = uniqueCallId(here, given);
  const namespace = asString(p["namespace"]);
  const name = asString(p["name"]) ?? type;
  const use = defined<EntryOf<"tool_use">>({
    kind: "tool_use",
    ...at(here, callKey("use", here, callId)),
    callId,
    givenId: isBareCount(given) ? given : undefined,
    name: namespace === undefined ? name : `${namespace}.${name}`,
    executable: executableOf(shellCommandOf(argumentsOf(p))),
    mcpServer: mcpServerOf(namespace ?? name),
  } as EntryOf<"tool_use">);
  if (by === "hosted") {
    const status = p["status"] === "failed" ? "error" : "success";
    const result = { kind: "tool_result", ...at(here, callKey("result", here, callId)), callId, status } as const;
    return { entries: [use, result], state: { ...answering(state), ...used } };
  }
  const open = [...(state.open ?? []), callId].slice(-REMEMBERED_CALLS);
  return { entries: [use], state: { ...answering(state, true), ...used, open } };
}

/** What the model was given for its call; what items say of that call later changes nothing any more. */
export function toolOutput(here: Here): Read {
  const { p, timeMs, state } = here;
  const given = asString(p["call_id"]);
  if (given === undefined) return { entries: [], state };
  const callId = openCall(state, given) ?? given;
  const text = outputText(p["output"]);
  const { status, exitCode, errorType } = outcomeOf(text);
  const entry = defined<EntryOf<"tool_result">>({
    kind: "tool_result",
    ...at(here, callKey("result", here, callId)),
    callId,
    status,
    errorType,
    exitCode,
    // The first form of subagents tells the thread in the call's result alone
    spawnedAgentId: /^\{\s*"agent_id":\s*"([0-9a-f-]{36})"/.exec(text)?.[1],
  } as EntryOf<"tool_result">);
  const open = (state.open ?? []).filter((id) => id !== callId);
  return { entries: [entry], state: { ...asking(state, timeMs), open } };
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
