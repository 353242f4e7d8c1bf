// https://cursor.com/docs/hooks and payloads in public repositories, read 2026-11-21; the program was not run

import type { Recognition } from "#core/model/agent.ts";
import type { SessionEndReason } from "#core/model/envelope.ts";
import type { Event, Extras, NativeEventType } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { defined } from "#kit/defined.ts";
import { excessOf } from "#kit/json-limits.ts";
import { executableOf } from "../shared/names/executables.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asCode, asCount, asExitCode, asObject, asString, ownOf } from "../shared/payload/json.ts";
import { eventOf, type PayloadEvent } from "../shared/payload/payload-event.ts";
import { hasCursorShape, isShell, modelOf, type Payload, payloadOf, SOURCE } from "./payload.ts";

export { SOURCE };

/**
 * Every payload contains the version, even if Cursor runs hooks from Claude's settings. The environment is not used, because other
 * programs run in Cursor's terminal too.
 */
export function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const p = asObject(payload);
  if (p === undefined || p["openhook"] !== undefined) return "no";
  if (asString(p["cursor_version"]) !== undefined) return "certain";
  if (hasCursorShape(p) || /[/\\]\.cursor[/\\]projects[/\\]/.test(asString(p["transcript_path"]) ?? ""))
    return "likely";
  if (isShell(p)) return "likely";
  // Fields in camel case belong to another agent, whatever file registered the hook
  const isForeign = p["hookEventName"] !== undefined || p["toolName"] !== undefined || p["sessionId"] !== undefined;
  const native = asString(p["hook_event_name"]) ?? intake.event;
  return !isForeign && native !== undefined && KNOWN.has(native) ? "possible" : "no";
}

/** One payload → its events; none for duplicates of a tool call under another name. */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const read = payloadOf(payload, intake);
  if (read === undefined) return [];
  const { p, native } = read;
  const event = (type: NativeEventType, more: Partial<PayloadEvent> = {}): readonly Event[] => [
    eventOf({ ...baseEvent(read, type, payload, intake), ...more }, intake),
  ];
  const extras = extrasOf(read);

  switch (native) {
    case "sessionStart":
      return event("session.start", {
        key: startKey(payload, intake),
        model: modelOf(p),
        extras: { ...extras, start_origin: p["is_background_agent"] === true ? "background" : "startup" },
      });
    case "sessionEnd":
      return event("session.end", sessionEnd(read)).map((event) => withDurationAndModel(event, p));
    case "beforeSubmitPrompt": {
      const prompt = p["prompt"];
      return event("prompt.submit", { promptLength: typeof prompt === "string" ? prompt.length : undefined });
    }
    case "preToolUse":
      return event("tool.start", callOf(read));
    case "postToolUse":
      return event("tool.end", endOf(read));
    case "postToolUseFailure":
      return event("tool.end", failureOf(read));
    case "beforeShellExecution":
      // Cursor also sends an event for the tool call; another contract may only send this name
      return read.isNative ? [] : event("tool.start", shellOf(read));
    case "afterAgentResponse":
      // The turn's tokens are attached to it
      return read.isNative && p["input_tokens"] !== undefined ? event("notice") : [];
    case "stop":
      return p["status"] === "error"
        ? event("turn.error", { extras: { ...extras, error_type: "_OTHER" } })
        : event("turn.end", { extras: defined<Extras>({ ...extras, native_reason: asCode(p["status"]) }) });
    case "subagentStart":
      return event("subagent.start", subagentOf(read));
    case "subagentStop":
      return event("subagent.end", subagentOf(read));
    case "preCompact":
      return event("compaction", { extras: defined<Extras>({ ...extras, trigger: asCode(p["trigger"]) }) });
    default:
      return [];
  }
}

/** Cursor's id of a subagent; in stop events of older versions it is only in the transcript's file name. */
export function subagentIdOf(p: Readonly<Record<string, unknown>>): string | undefined {
  const path = asString(p["agent_transcript_path"]);
  return asString(p["subagent_id"]) ?? /[/\\]subagents[/\\]([^/\\]+)\.jsonl$/.exec(path ?? "")?.[1];
}

// --- internal ---

const KNOWN = new Set([
  "sessionStart",
  "sessionEnd",
  "beforeSubmitPrompt",
  "preToolUse",
  "postToolUse",
  "postToolUseFailure",
  "beforeShellExecution",
  "afterShellExecution",
  "beforeMCPExecution",
  "afterMCPExecution",
  "beforeReadFile",
  "afterFileEdit",
  "afterAgentResponse",
  "afterAgentThought",
  "subagentStart",
  "subagentStop",
  "stop",
  "preCompact",
  "beforeTabFileRead",
  "afterTabFileEdit",
  "workspaceOpen",
]);

/**
 * Payloads have no time. An event sent by two registrations has the same payload; payloads that only contain a command are
 * distinguished by process.
 */
function baseEvent(read: Payload, type: NativeEventType, payload: unknown, intake: IntakeFacts): PayloadEvent {
  const isPrompt = type === "prompt.submit" || type === "turn.end" || type === "turn.error";
  const digest = payloadDigest(payload);
  return {
    source: SOURCE,
    type,
    native: read.native,
    session: read.session,
    cwd: read.cwd,
    key: (isPrompt ? read.promptId : undefined) ?? (read.isNative ? digest : `${intake.hookPid ?? ""}:${digest}`),
    extras: extrasOf(read),
  };
}

/** A resumed session sends an identical start payload from another process. */
const startKey = (payload: unknown, { parentPid, parentStart }: IntakeFacts): string =>
  [payloadDigest(payload), parentPid ?? "", parentStart ?? ""].join(":");

/** Tools have no prompt id and are assigned to turns by time: without a prompt event, their id would create a turn. */
function extrasOf({ p, native, promptId }: Payload): Extras {
  const hasPrompt = native === "beforeSubmitPrompt" || native === "stop" || native === "afterAgentResponse";
  return defined<Extras>({
    agent_version: asString(p["cursor_version"]),
    transcript_path: asString(p["transcript_path"]),
    prompt_id: hasPrompt ? promptId : undefined,
  });
}

const END_REASON: Readonly<Record<string, SessionEndReason>> = {
  completed: "completed",
  aborted: "user_exit",
  error: "error",
  window_close: "user_exit",
  user_close: "user_exit",
};

function sessionEnd(read: Payload): Partial<PayloadEvent> {
  const reason = asCode(read.p["reason"]);
  return {
    reason: ownOf(END_REASON, reason) ?? "completed",
    extras: defined<Extras>({ ...extrasOf(read), native_reason: reason }),
  };
}

function withDurationAndModel(event: Event, p: Payload["p"]): Event {
  if (event.type !== "session.end") return event;
  const sums = defined<{ duration_ms: number; model: string }>({
    duration_ms: asCount(p["duration_ms"]),
    model: modelOf(p),
  });
  return { ...event, data: { ...event.data, ...sums } };
}

function callOf(read: Payload): Partial<PayloadEvent> & Required<Pick<PayloadEvent, "tool" | "extras">> {
  const { p } = read;
  const callId = asString(p["tool_use_id"]);
  const input = p["tool_input"];
  return {
    tool: { name: asString(p["tool_name"]), callId },
    // Some calls are reported twice, with differently written paths
    ...(callId !== undefined && !isSequenceNumber(callId) && { key: callId }),
    extras: defined<Extras>({
      ...extrasOf(read),
      input_digest: callId === undefined ? inputDigest(input) : undefined,
      executable: executableOf(asObject(input)?.["command"]),
    }),
  };
}

/** The exit code in the JSON text is often the only sign that a command failed. */
function endOf(read: Payload): Partial<PayloadEvent> {
  const call = callOf(read);
  const output = asObject(jsonIn(read.p["tool_output"]));
  const exitCode = asExitCode(output?.["exitCode"]);
  const failed = (exitCode ?? 0) !== 0 || output?.["isError"] === true || output?.["success"] === false;
  return {
    ...call,
    tool: { ...call.tool, status: failed ? "error" : "success", durationMs: asCount(read.p["duration"]) },
    extras: defined<Extras>({ ...call.extras, exit_code: exitCode }),
  };
}

function failureOf(read: Payload): Partial<PayloadEvent> {
  const call = callOf(read);
  const type = asCode(read.p["failure_type"]);
  const errorType = read.p["is_interrupt"] === true ? "interrupted" : type === "error" ? undefined : type;
  return {
    ...call,
    tool: { ...call.tool, status: "error", durationMs: asCount(read.p["duration"]) },
    extras: defined<Extras>({
      ...call.extras,
      error_type: errorType,
      denied: type === "permission_denied" ? true : undefined,
    }),
  };
}

function shellOf(read: Payload): Partial<PayloadEvent> {
  const command = read.p["command"];
  return {
    tool: { name: "Shell" },
    extras: defined<Extras>({
      ...extrasOf(read),
      input_digest: inputDigest({ command }),
      executable: executableOf(command),
    }),
  };
}

/** The parent's event. The subagent's own events have another conversation id and do not name the parent. */
function subagentOf(read: Payload): Partial<PayloadEvent> {
  const { p, session } = read;
  const parent = asString(p["parent_conversation_id"]);
  const id = subagentIdOf(p);
  return {
    ...(id !== undefined && { key: id }),
    extras: defined<Extras>({
      ...extrasOf(read),
      agent_id: id,
      agent_type: asString(p["subagent_type"]),
      parent_session_id: parent === session.id ? undefined : parent,
    }),
  };
}

function jsonIn(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*\{/.test(value)) return value;
  if (excessOf(value) !== undefined) return undefined;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}
