import { defined } from "../../model/defined.ts";
import type { EntryOf, ToolStatus } from "../../model/transcript.ts";
import { executableOf } from "../shared/names/executables.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { asCode, asCount, asObject, asString, parsedJson } from "../shared/payload/json.ts";
import { exitCodeIn } from "./adapter.ts";
import { beginCall, endCall, openCall, spawningCall } from "./call-ids.ts";
import { at, type Fields, type Here, type LineResult, type LineState, nothing } from "./line-context.ts";

/** A call by the user (`!` and similar): remembered, so that its lines are skipped. */
export function userCall(here: Here): LineResult {
  const callId = asString(here.data["toolCallId"]);
  return callId === undefined ? nothing(here) : skippedCall(here, callId);
}

/** A tool call, with its id, which hooks do not have. */
export function toolUse(here: Here): LineResult {
  const { data } = here;
  const given = asString(data["toolCallId"]);
  const name = asString(data["toolName"]);
  if (given === undefined || name === undefined) return nothing(here);
  const { callId, state } = beginCall(here, given, name);
  if (isSkipped(here, callId)) return nothing(here);
  // The program reads a background agent's answer in the model's name: not a call of the model, and no hook reports it
  const isOfProgram = here.state.hasRecords === true && data["model"] === undefined && data["turnId"] === undefined;
  if (isOfProgram) return skippedCall(here, callId);
  const input = parsedJson(data["arguments"]);
  const entry = defined<EntryOf<"tool_use">>({
    kind: "tool_use",
    ...at(here, `use:${callId}`),
    callId,
    name,
    executable: executableOf(asObject(input)?.["command"]),
    mcpServer: asString(data["mcpServerName"]),
    inputDigest: inputDigest(input),
  } as EntryOf<"tool_use">);
  if (here.agentId !== undefined) return { entries: [entry], state };
  const openCalls = [...(state.openCalls ?? []).slice(1 - REMEMBERED_CALLS), callId];
  return { entries: [entry], state: { ...state, openCalls } };
}

/** A permission request or its answer: a call that the user interrupts in between was denied. */
export function permission(here: Here): LineResult {
  const { data, state } = here;
  const given = asString(data["toolCallId"]) ?? asString(asObject(data["permissionRequest"])?.["toolCallId"]);
  const callId = given === undefined ? undefined : openCall(here, given);
  if (callId === undefined || here.state.openCalls?.includes(callId) !== true) return nothing(here);
  const { asked: _, ...answered } = state;
  const kind = asString(asObject(data["result"])?.["kind"]);
  const others = (state.asked ?? []).filter((id) => id !== callId);
  // Cancelled with Escape, which also interrupts the turn: that line is before or after this one
  const asked = kind === undefined || kind === "cancelled" ? [...others, callId] : others;
  return { entries: [], state: asked.length === 0 ? answered : { ...answered, asked } };
}

/** Ends the open calls when the user interrupts the turn: no other line does. */
export function endOpenCalls(here: Here): LineResult {
  if (here.agentId !== undefined) return nothing(here);
  const { openCalls = [], openIds: _, asked, ...state } = here.state;
  const entries = openCalls.map((callId) => {
    const how = asked?.includes(callId) === true ? DENIED : INTERRUPTED;
    // One line ends several calls: with its id alone they would be deduplicated
    return { ...ending(here, callId, how), globalKey: `event:${here.id}:${callId}` };
  });
  return { entries, state: skipCalls(state, openCalls) };
}

/** The end of a call, including refusals. */
export function toolResult(here: Here): LineResult {
  const { data } = here;
  const given = asString(data["toolCallId"]);
  if (given === undefined || data["isUserRequested"] === true) return nothing(here);
  const { callId, state } = endCall(here, given);
  if (isSkipped(here, callId)) return nothing(here);
  const code = asCode(asObject(data["error"])?.["code"]);
  // The next run closes calls that a killed run left open, with special values
  const isLeftOpen = code === "interrupted" && data["model"] === "resumed";
  const status = isLeftOpen ? "unfinished" : statusOf(data["success"], code);
  const metrics = asObject(asObject(data["toolTelemetry"])?.["metrics"]);
  const entry = ending(here, callId, {
    status,
    errorType: status === "error" && code !== "failure" ? code : undefined,
    exitCode: exitCodeOf(data),
    linesAdded: asCount(metrics?.["linesAdded"]),
    linesRemoved: asCount(metrics?.["linesRemoved"]),
  });
  return { entries: [entry], state: without(state, callId) };
}

/** A subagent began; names the call that started it. */
export function subagent(here: Here): LineResult {
  const { data } = here;
  const callId = asString(data["toolCallId"]);
  const agentId = here.agentId ?? callId;
  if (agentId === undefined) return nothing(here);
  const entry = defined<EntryOf<"subagent">>({
    kind: "subagent",
    ...at({ ...here, agentId }, `subagent:${agentId}`),
    agentType: asString(data["agentType"]) ?? asString(data["agentName"]),
    parentCallId: callId === undefined ? undefined : spawningCall(here, callId),
  } as EntryOf<"subagent">);
  // The subagent's hooks use its own id; in 1.0.60 and 1.0.75 they do not name the parent
  const own: EntryOf<"session"> = {
    kind: "session",
    ...at({ ...here, agentId: undefined }, `subagent_session:${agentId}`),
    subagentSessionId: agentId,
  };
  return { entries: [own, entry], state: here.state };
}

// --- internal ---

const REMEMBERED_CALLS = 200;

type Ending = { readonly [K in "status" | "errorType" | "exitCode" | "linesAdded" | "linesRemoved"]?: unknown };

const ending = (here: Here, callId: string, how: Ending) =>
  defined<EntryOf<"tool_result">>({
    kind: "tool_result",
    ...at(here, `result:${callId}`),
    callId,
    ...how,
  } as EntryOf<"tool_result">);

const DENIED: Ending = { status: "denied" };
const INTERRUPTED: Ending = { status: "error", errorType: "interrupted" };

function without(state: LineState, callId: string): LineState {
  const { openCalls = [], ...rest } = state;
  const left = openCalls.filter((id) => id !== callId);
  return left.length === 0 ? rest : { ...rest, openCalls: left };
}

const skippedCall = (here: Here, callId: string): LineResult => ({
  entries: [],
  state: skipCalls(here.state, [callId]),
});

const skipCalls = (state: LineState, callIds: readonly string[]): LineState =>
  callIds.length === 0
    ? state
    : { ...state, passedOver: [...(state.passedOver ?? []), ...callIds].slice(-REMEMBERED_CALLS) };

const isSkipped = (here: Here, callId: string): boolean => here.state.passedOver?.includes(callId) === true;

function statusOf(success: unknown, code: string | undefined): ToolStatus {
  if (success === true) return "success";
  return code === "denied" || code === "rejected" ? "denied" : "error";
}

/** Older versions only have the exit code in the text. */
function exitCodeOf(data: Fields): number | undefined {
  const code = asObject(data["shellExecution"])?.["exitCode"];
  if (typeof code === "number" && Number.isSafeInteger(code)) return code;
  return exitCodeIn(asObject(data["result"])?.["content"]);
}
