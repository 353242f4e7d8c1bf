import { defined } from "../../model/defined.ts";
import type { EntryOf, ToolStatus } from "../../model/transcript.ts";
import { executableOf } from "../shared/names/executables.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { asCode, asCount, asObject, asString, parsedJson } from "../shared/payload/json.ts";
import { exitCodeIn } from "./adapter.ts";
import { beginCall, endCall, openCall } from "./call-ids.ts";
import { at, type Fields, type Here, type LineResult, type LineState, nothing } from "./line-context.ts";

/** A call that the user makes (`!` and the like): remembered, to be passed over. */
export function userCall(here: Here): LineResult {
  const callId = asString(here.data["toolCallId"]);
  return callId === undefined ? nothing(here) : foreignCall(here, callId);
}

/** A tool is called: with its id, which no hook has. */
export function toolUse(here: Here): LineResult {
  const { data } = here;
  const given = asString(data["toolCallId"]);
  const name = asString(data["toolName"]);
  if (given === undefined || name === undefined) return nothing(here);
  const { callId, state } = beginCall(here, given);
  if (isPassedOver(here, callId)) return nothing(here);
  // The program reads an answer of a background agent in the model's name; no model asked for it, and no hook tells of it
  const isOfProgram = here.state.hasRecords === true && data["model"] === undefined && data["turnId"] === undefined;
  if (isOfProgram) return foreignCall(here, callId);
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

/** The user is asked whether a call may run, or has answered: what they break off meanwhile was denied. */
export function permission(here: Here): LineResult {
  const { data, state } = here;
  const given = asString(data["toolCallId"]) ?? asString(asObject(data["permissionRequest"])?.["toolCallId"]);
  const callId = given === undefined ? undefined : openCall(here, given);
  if (callId === undefined || here.state.openCalls?.includes(callId) !== true) return nothing(here);
  const { asked: _, ...answered } = state;
  const kind = asString(asObject(data["result"])?.["kind"]);
  const others = (state.asked ?? []).filter((id) => id !== callId);
  // Left with Escape, which breaks the turn off: the line that says so stands before this one, or behind
  const asked = kind === undefined || kind === "cancelled" ? [...others, callId] : others;
  return { entries: [], state: asked.length === 0 ? answered : { ...answered, asked } };
}

/** Calls that were at work when the user broke the turn off: nothing else says how they ended. */
export function brokenOff(here: Here): LineResult {
  if (here.agentId !== undefined) return nothing(here);
  const { openCalls = [], openIds: _, asked, ...state } = here.state;
  const entries = openCalls.map((callId) => {
    const how = asked?.includes(callId) === true ? DENIED : INTERRUPTED;
    // One line ends them all: as copies of a line they would be one
    return { ...ending(here, callId, how), globalKey: `event:${here.id}:${callId}` };
  });
  return { entries, state: passedOver(state, openCalls) };
}

/** How a call ended, refusals too. */
export function toolResult(here: Here): LineResult {
  const { data } = here;
  const given = asString(data["toolCallId"]);
  if (given === undefined || data["isUserRequested"] === true) return nothing(here);
  const { callId, state } = endCall(here, given);
  if (isPassedOver(here, callId)) return nothing(here);
  const code = asCode(asObject(data["error"])?.["code"]);
  // What a run that died left open, the next one closes with words of its own
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

/** A subagent began: which call started it. */
export function subagent(here: Here): LineResult {
  const { data } = here;
  const callId = asString(data["toolCallId"]);
  const agentId = here.agentId ?? callId;
  if (agentId === undefined) return nothing(here);
  const entry = defined<EntryOf<"subagent">>({
    kind: "subagent",
    ...at({ ...here, agentId }, `subagent:${agentId}`),
    agentType: asString(data["agentType"]) ?? asString(data["agentName"]),
    parentCallId: callId === undefined ? undefined : openCall(here, callId),
  } as EntryOf<"subagent">);
  // Its hooks come under its id; those of 1.0.60 and 1.0.75 do not say whose subagent it is
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

const foreignCall = (here: Here, callId: string): LineResult => ({
  entries: [],
  state: passedOver(here.state, [callId]),
});

const passedOver = (state: LineState, callIds: readonly string[]): LineState =>
  callIds.length === 0
    ? state
    : { ...state, passedOver: [...(state.passedOver ?? []), ...callIds].slice(-REMEMBERED_CALLS) };

const isPassedOver = (here: Here, callId: string): boolean => here.state.passedOver?.includes(callId) === true;

function statusOf(success: unknown, code: string | undefined): ToolStatus {
  if (success === true) return "success";
  return code === "denied" || code === "rejected" ? "denied" : "error";
}

/** Older versions have it in the text alone. */
function exitCodeOf(data: Fields): number | undefined {
  const code = asObject(data["shellExecution"])?.["exitCode"];
  if (typeof code === "number" && Number.isSafeInteger(code)) return code;
  return exitCodeIn(asObject(data["result"])?.["content"]);
}
