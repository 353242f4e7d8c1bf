import type { EntryOf, ToolStatus } from "#core/model/transcript.ts";
import { defined } from "#kit/objects.ts";
import { executableOf } from "../shared/names/executables.ts";
import { skillOf } from "../shared/names/skill.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { asCode, asCount, asObject, asString, type Fields, parsedJson } from "../shared/payload/json.ts";
import { exitCodeIn } from "./adapter.ts";
import { endCall, openCall, spawningCall, startCall } from "./call-ids.ts";
import { writesOfCall } from "./file-writes.ts";
import { entryBase, type LineContext, type LineResult, type LineState, noEntries } from "./line-context.ts";

/** A call by the user (`!` and similar), whose lines are skipped. */
export function userCall(context: LineContext): LineResult {
  const callId = asString(context.data["toolCallId"]);
  return callId === undefined ? noEntries(context) : skippedCall(context, callId);
}

/** A tool call, with its id, which hooks do not have. */
export function toolUse(context: LineContext): LineResult {
  const { data } = context;
  const given = asString(data["toolCallId"]);
  const name = asString(data["toolName"]);
  if (given === undefined || name === undefined) return noEntries(context);
  const { callId, state } = startCall(context, given, name);
  if (isSkipped(context, callId)) return noEntries(context);
  // A call by the program itself, which reads a background agent's answer; hooks do not report it
  const isProgramCall =
    context.state.hasRecords === true && data["model"] === undefined && data["turnId"] === undefined;
  if (isProgramCall) return skippedCall(context, callId);
  const input = parsedJson(data["arguments"]);
  const entry = defined<EntryOf<"tool_use">>({
    kind: "tool_use",
    ...entryBase(context, `use:${callId}`),
    callId,
    name,
    executable: executableOf(asObject(input)?.["command"]),
    skill: skillOf(name, input),
    mcpServer: asString(data["mcpServerName"]),
    inputDigest: inputDigest(input),
    files: someOf(writesOfCall(name, input)),
  });
  if (context.agentId !== undefined) return { entries: [entry], state };
  const openCalls = [...(state.openCalls ?? []).slice(1 - REMEMBERED_CALLS), callId];
  return { entries: [entry], state: { ...state, openCalls } };
}

/** A permission request or its answer. A call that the user interrupts in between was denied. */
export function permission(context: LineContext): LineResult {
  const { data, state } = context;
  const given = asString(data["toolCallId"]) ?? asString(asObject(data["permissionRequest"])?.["toolCallId"]);
  const callId = given === undefined ? undefined : openCall(context, given);
  if (callId === undefined || context.state.openCalls?.includes(callId) !== true) return noEntries(context);
  const { asked: _, ...answered } = state;
  const kind = asString(asObject(data["result"])?.["kind"]);
  const others = (state.asked ?? []).filter((id) => id !== callId);
  // Escape cancels the request and interrupts the turn; the line of the interruption is before or after this one
  const asked = kind === undefined || kind === "cancelled" ? [...others, callId] : others;
  return { entries: [], state: asked.length === 0 ? answered : { ...answered, asked } };
}

/** Ends the open calls when the user interrupts the turn: they have no lines for their ends. */
export function endOpenCalls(context: LineContext): LineResult {
  if (context.agentId !== undefined) return noEntries(context);
  const { openCalls = [], openIds: _, asked, ...state } = context.state;
  const entries = openCalls.map((callId) => {
    const outcome = asked?.includes(callId) === true ? DENIED : INTERRUPTED;
    // The line ends several calls; without the call's id, all but one would be dropped as duplicates
    return { ...callEnd(context, callId, outcome), globalKey: `event:${context.id}:${callId}` };
  });
  return { entries, state: skipCalls(state, openCalls) };
}

/** The end of a call, including refusals. */
export function toolResult(context: LineContext): LineResult {
  const { data } = context;
  const given = asString(data["toolCallId"]);
  if (given === undefined || data["isUserRequested"] === true) return noEntries(context);
  const { callId, state } = endCall(context, given);
  if (isSkipped(context, callId)) return noEntries(context);
  const code = asCode(asObject(data["error"])?.["code"]);
  // The next run closes calls that a killed run left open, with special values
  const isLeftOpen = code === "interrupted" && data["model"] === "resumed";
  const status = isLeftOpen ? "unfinished" : statusOf(data["success"], code);
  const metrics = asObject(asObject(data["toolTelemetry"])?.["metrics"]);
  const entry = callEnd(context, callId, {
    status,
    errorType: status === "error" && code !== "failure" ? code : undefined,
    exitCode: exitCodeOf(data),
    linesAdded: asCount(metrics?.["linesAdded"]),
    linesRemoved: asCount(metrics?.["linesRemoved"]),
  });
  return { entries: [entry], state: withoutOpenCall(state, callId) };
}

/** The start of a subagent, with the call that started it. */
export function subagent(context: LineContext): LineResult {
  const { data } = context;
  const callId = asString(data["toolCallId"]);
  const agentId = context.agentId ?? callId;
  if (agentId === undefined) return noEntries(context);
  const entry = defined<EntryOf<"subagent">>({
    kind: "subagent",
    ...entryBase({ ...context, agentId }, `subagent:${agentId}`),
    agentType: asString(data["agentType"]) ?? asString(data["agentName"]),
    parentCallId: callId === undefined ? undefined : spawningCall(context, callId),
  });
  // Hooks of the subagent have the subagent's session id; in 1.0.60 and 1.0.75 they do not name the parent
  const session: EntryOf<"session"> = {
    kind: "session",
    ...entryBase({ ...context, agentId: undefined }, `subagent_session:${agentId}`),
    subagentSessionId: agentId,
  };
  return { entries: [session, entry], state: context.state };
}

// --- internal ---

const someOf = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list);

const REMEMBERED_CALLS = 200;

type Ended = EntryOf<"tool_result">;
type CallOutcome = Pick<Ended, "status"> & {
  readonly [K in "errorType" | "exitCode" | "linesAdded" | "linesRemoved"]?: Ended[K] | undefined;
};

const callEnd = (context: LineContext, callId: string, outcome: CallOutcome) =>
  defined<Ended>({
    kind: "tool_result",
    ...entryBase(context, `result:${callId}`),
    callId,
    ...outcome,
  });

const DENIED: CallOutcome = { status: "denied" };
const INTERRUPTED: CallOutcome = { status: "error", errorType: "interrupted" };

function withoutOpenCall(state: LineState, callId: string): LineState {
  const { openCalls = [], ...rest } = state;
  const remaining = openCalls.filter((id) => id !== callId);
  return remaining.length === 0 ? rest : { ...rest, openCalls: remaining };
}

const skippedCall = (context: LineContext, callId: string): LineResult => ({
  entries: [],
  state: skipCalls(context.state, [callId]),
});

const skipCalls = (state: LineState, callIds: readonly string[]): LineState =>
  callIds.length === 0
    ? state
    : { ...state, passedOver: [...(state.passedOver ?? []), ...callIds].slice(-REMEMBERED_CALLS) };

const isSkipped = (context: LineContext, callId: string): boolean =>
  context.state.passedOver?.includes(callId) === true;

function statusOf(success: unknown, code: string | undefined): ToolStatus {
  if (success === true) return "success";
  return code === "denied" || code === "rejected" ? "denied" : "error";
}

/** Older versions have the exit code only in the text. */
function exitCodeOf(data: Fields): number | undefined {
  const code = asObject(data["shellExecution"])?.["exitCode"];
  if (typeof code === "number" && Number.isSafeInteger(code)) return code;
  return exitCodeIn(asObject(data["result"])?.["content"]);
}
