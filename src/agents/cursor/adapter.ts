// https://cursor.com/docs/hooks, and payloads that public repositories captured, read 2026-11-21; the program was not run

import type { IntakeFacts, Recognition } from "../../model/agent.ts";
import { defined } from "../../model/defined.ts";
import type { SessionEndReason } from "../../model/envelope.ts";
import type { Event, EventType, Extras } from "../../model/event.ts";
import { executableOf } from "../shared/names/executables.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asCode, asCount, asExitCode, asObject, asString, ownOf } from "../shared/payload/json.ts";
import { eventOf, type PayloadEvent } from "../shared/payload/payload-event.ts";
import { isShaped, isShell, modelOf, type Payload, payloadOf, SOURCE } from "./payload.ts";

export { SOURCE };

/**
 * Detection: the version is in every payload, also when Cursor runs the hooks it found in Claude's settings. Its environment
 * proves nothing: others run in its terminal.
 */
export function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const p = asObject(payload);
  if (p === undefined || p["openhook"] !== undefined) return "no";
  if (asString(p["cursor_version"]) !== undefined) return "certain";
  if (isShaped(p) || /[/\\]\.cursor[/\\]projects[/\\]/.test(asString(p["transcript_path"]) ?? "")) return "likely";
  if (isShell(p)) return "likely";
  // Camel case in the fields is another's, whatever file it is registered in
  const isForeign = p["hookEventName"] !== undefined || p["toolName"] !== undefined || p["sessionId"] !== undefined;
  const native = asString(p["hook_event_name"]) ?? intake.event;
  return !isForeign && native !== undefined && KNOWN.has(native) ? "possible" : "no";
}

/** One payload → the event it tells. What repeats a tool call under another name tells nothing. */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const read = payloadOf(payload, intake);
  if (read === undefined) return [];
  const { p, native } = read;
  const tell = (type: EventType, more: Partial<PayloadEvent> = {}): readonly Event[] => [
    eventOf({ ...told(read, type, payload, intake), ...more }, intake),
  ];
  const extras = extrasOf(read);

  switch (native) {
    case "sessionStart":
      return tell("session.start", {
        key: startKey(payload, intake),
        model: modelOf(p),
        extras: { ...extras, start_origin: p["is_background_agent"] === true ? "background" : "startup" },
      });
    case "sessionEnd":
      return tell("session.end", sessionEnd(read)).map((event) => withSums(event, p));
    case "beforeSubmitPrompt": {
      const prompt = p["prompt"];
      return tell("prompt.submit", { promptLength: typeof prompt === "string" ? prompt.length : undefined });
    }
    case "preToolUse":
      return tell("tool.start", callOf(read));
    case "postToolUse":
      return tell("tool.end", endOf(read));
    case "postToolUseFailure":
      return tell("tool.end", failureOf(read));
    case "beforeShellExecution":
      // The tool call itself is told too; only a contract that borrowed the name has nothing else
      return read.isNative ? [] : tell("tool.start", shellOf(read));
    case "afterAgentResponse":
      // No event of its own: it carries the turn's tokens
      return read.isNative && p["input_tokens"] !== undefined ? tell("notice") : [];
    case "stop":
      return p["status"] === "error"
        ? tell("turn.error", { extras: { ...extras, error_type: "_OTHER" } })
        : tell("turn.end", { extras: defined<Extras>({ ...extras, native_reason: asCode(p["status"]) }) });
    case "subagentStart":
      return tell("subagent.start", subagentOf(read));
    case "subagentStop":
      return tell("subagent.end", subagentOf(read));
    case "preCompact":
      return tell("compaction", { extras: defined<Extras>({ ...extras, trigger: asCode(p["trigger"]) }) });
    default:
      return [];
  }
}

/** Cursor's id of a subagent: in a stop of older versions it stands only in the name of its transcript. */
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
 * No payload has a time. The same event told twice, by two registrations, is the same payload; a contract that has nothing
 * but the command tells two equal ones by two processes.
 */
function told(read: Payload, type: EventType, payload: unknown, intake: IntakeFacts): PayloadEvent {
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

/** A session that is taken up again tells its start in the same words: the process is another one. */
const startKey = (payload: unknown, { parentPid, parentStart }: IntakeFacts): string =>
  [payloadDigest(payload), parentPid ?? "", parentStart ?? ""].join(":");

/** Tools are put into their turn by time: where nobody told of a prompt, their generation would make one up. */
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

function withSums(event: Event, p: Payload["p"]): Event {
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
    // Some calls are told twice, with a path written in two ways
    ...(callId !== undefined && { key: callId }),
    extras: defined<Extras>({
      ...extrasOf(read),
      input_digest: callId === undefined ? inputDigest(input) : undefined,
      executable: executableOf(asObject(input)?.["command"]),
    }),
  };
}

/** A shell's exit code is the only word on its failure, in a JSON text. */
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

/** Told by the parent. The subagent's own events have another conversation's id, and nothing in them says whose. */
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
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}
