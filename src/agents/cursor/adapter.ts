// https://cursor.com/docs/hooks and payloads in public repositories, read 2026-11-21; the program was not run

import type { PayloadFacts, Recognition } from "#core/model/agent.ts";
import type { Content } from "#core/model/content.ts";
import type { SessionEndReason } from "#core/model/envelope.ts";
import type { Event } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { excessOf } from "#kit/json-limits.ts";
import { defined } from "#kit/objects.ts";
import { executableOf } from "../shared/names/executables.ts";
import { answerPiece, contentOfEvents, firstOf } from "../shared/payload/content.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { type Frame, type FramedMembers, type FramedTable, framedAdapter } from "../shared/payload/framed-adapter.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asCode, asCount, asExitCode, asObject, asString, ownOf, parsedJson } from "../shared/payload/json.ts";
import { hasCursorShape, isShell, modelOf, type Payload, payloadOf, SOURCE } from "./payload.ts";

const EVENTS = {
  sessionStart: {
    type: "session.start",
    read: ({ p, digest }, { parentPid, parentStart }) => ({
      // A resumed session sends an identical start payload from another process
      key: [digest, parentPid ?? "", parentStart ?? ""].join(":"),
      model: modelOf(p),
      extras: { start_origin: p["is_background_agent"] === true ? "background" : "startup" },
    }),
  },
  beforeSubmitPrompt: {
    type: "prompt.submit",
    read: ({ p, promptId }) => ({
      key: promptId,
      promptLength: typeof p["prompt"] === "string" ? p["prompt"].length : undefined,
      extras: { prompt_id: promptId },
    }),
  },
  preToolUse: { type: "tool.start", read: callOf },
  postToolUse: { type: "tool.end", read: endOf },
  postToolUseFailure: { type: "tool.end", read: failureOf },
  beforeShellExecution: {
    type: "tool.start",
    hook: "none",
    or: ["nothing"],
    // Cursor also sends an event for the tool call; another contract may only send this name
    read: (payload) => (payload.isNative ? undefined : shellOf(payload)),
  },
  afterAgentResponse: {
    type: "notice",
    hook: "none",
    or: ["nothing"],
    // The turn's tokens are attached to it
    read: ({ p, isNative, promptId }) =>
      isNative && p["input_tokens"] !== undefined ? { extras: { prompt_id: promptId } } : undefined,
  },
  stop: {
    type: "turn.end",
    or: ["turn.error"],
    read: ({ p, promptId }) =>
      p["status"] === "error"
        ? { type: "turn.error", key: promptId, extras: { prompt_id: promptId, error_type: "_OTHER" } }
        : { key: promptId, extras: { prompt_id: promptId, native_reason: asCode(p["status"]) } },
  },
  subagentStart: { type: "subagent.start", read: subagentOf },
  subagentStop: { type: "subagent.end", read: subagentOf },
  preCompact: { type: "compaction", read: ({ p }) => ({ extras: { trigger: asCode(p["trigger"]) } }) },
  sessionEnd: {
    type: "session.end",
    read({ p }) {
      const reason = asCode(p["reason"]);
      return { reason: ownOf(END_REASON, reason) ?? "completed", extras: { native_reason: reason } };
    },
  },
} as const satisfies FramedTable<CursorFrame>;

/** Names of events that give something. */
export type NativeName = keyof typeof EVENTS;

const framed = framedAdapter({
  source: SOURCE,
  recognises,
  events: EVENTS,
  // Tool calls under another name; whole files, edits and thoughts
  notNeeded: `afterShellExecution beforeMCPExecution afterMCPExecution beforeReadFile afterFileEdit afterAgentThought
    beforeTabFileRead afterTabFileEdit workspaceOpen`,
  fields: `hook_event_name conversation_id session_id generation_id model model_id model_params cursor_version
    workspace_roots user_email transcript_path cwd is_background_agent composer_mode reason duration duration_ms final_status
    error_message prompt attachments tool_name tool_input tool_use_id tool_output agent_message failure_type is_interrupt
    command sandbox output url result_json file_path content edits text input_tokens output_tokens cache_read_tokens
    cache_write_tokens subagent_id subagent_type subagent_model task parent_conversation_id tool_call_id is_parallel_worker
    git_branch status description summary message_count tool_call_count loop_count modified_files agent_transcript_path
    trigger context_usage_percent context_tokens context_window_size messages_to_compact is_first_compaction`,
  frameOf,
});

export const adapter = {
  ...framed,
  toEvents: (payload: unknown, intake: IntakeFacts): readonly Event[] =>
    framed.toEvents(payload, intake).map((event) => withDurationAndModel(event, asObject(payload) ?? {})),
};

/** Cursor's id of a subagent; in stop events of older versions it is only in the transcript's file name. */
export function subagentIdOf(p: Readonly<Record<string, unknown>>): string | undefined {
  const path = asString(p["agent_transcript_path"]);
  return asString(p["subagent_id"]) ?? /[/\\]subagents[/\\]([^/\\]+)\.jsonl$/.exec(path ?? "")?.[1];
}

/**
 * Content of a payload. A response has no event in the turn, so its text is attached to the turn's usage, in versions that report
 * usage.
 */
export function toContent(payload: unknown, { events, entries }: PayloadFacts): readonly Content[] {
  const p = asObject(payload) ?? {};
  const text = asString(p["text"]);
  const usage = entries.find(({ kind }) => kind === "model_call");
  const command = asString(p["command"]);
  return [
    ...contentOfEvents(events, {
      prompt: p["prompt"],
      arguments: p["tool_input"] ?? (command === undefined ? undefined : { command }),
      result: parsedJson(firstOf(p, ["tool_output", "tool_response", "error_message", "error"])),
      answer: firstOf(p, ["last_assistant_message", "summary"]),
    }),
    ...(usage === undefined || text === undefined ? [] : answerPiece(usage.key, text)),
  ];
}

// --- internal ---

type CursorFrame = Payload & Frame & { readonly digest: string };

/**
 * Every payload contains the version, even if Cursor runs hooks from Claude's settings. The environment is not used, because other
 * programs run in Cursor's terminal too.
 */
function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const p = asObject(payload);
  if (p === undefined || p["openhook"] !== undefined) return "no";
  if (asString(p["cursor_version"]) !== undefined) return "certain";
  if (hasCursorShape(p) || /[/\\]\.cursor[/\\]projects[/\\]/.test(asString(p["transcript_path"]) ?? ""))
    return "likely";
  if (isShell(p)) return "likely";
  // Fields in camel case belong to another agent, whatever file registered the hook
  const isForeign = p["hookEventName"] !== undefined || p["toolName"] !== undefined || p["sessionId"] !== undefined;
  const native = asString(p["hook_event_name"]) ?? intake.event;
  return !isForeign && native !== undefined && adapter.known.events.includes(native) ? "possible" : "no";
}

/**
 * Payloads have no time. An event sent by two registrations has the same payload; payloads that only contain a command are
 * distinguished by process. Tools have no prompt id and are assigned to turns by time: without a prompt event, their id would create a
 * turn.
 */
function frameOf(payload: unknown, intake: IntakeFacts): CursorFrame | undefined {
  const read = payloadOf(payload, intake);
  if (read === undefined) return undefined;
  const digest = payloadDigest(payload);
  return {
    ...read,
    digest,
    key: read.isNative ? digest : `${intake.hookPid ?? ""}:${digest}`,
    extras: { agent_version: asString(read.p["cursor_version"]), transcript_path: asString(read.p["transcript_path"]) },
  };
}

const END_REASON: Readonly<Record<string, SessionEndReason>> = {
  completed: "completed",
  aborted: "user_exit",
  error: "error",
  window_close: "user_exit",
  user_close: "user_exit",
};

/** The end of a session is the only event with sums of it. */
function withDurationAndModel(event: Event, p: Payload["p"]): Event {
  if (event.type !== "session.end") return event;
  const sums = defined<{ duration_ms: number; model: string }>({
    duration_ms: asCount(p["duration_ms"]),
    model: modelOf(p),
  });
  return { ...event, data: { ...event.data, ...sums } };
}

function callOf({ p }: Payload) {
  const callId = asString(p["tool_use_id"]);
  const input = p["tool_input"];
  return {
    tool: { name: asString(p["tool_name"]), callId },
    // Some calls are reported twice, with differently written paths
    key: callId !== undefined && isSequenceNumber(callId) ? undefined : callId,
    extras: {
      input_digest: callId === undefined ? inputDigest(input) : undefined,
      executable: executableOf(asObject(input)?.["command"]),
    },
  };
}

/** The exit code in the JSON text is often the only sign that a command failed. */
function endOf(payload: Payload): FramedMembers {
  const { p } = payload;
  const call = callOf(payload);
  const output = asObject(jsonIn(p["tool_output"]));
  const exitCode = asExitCode(output?.["exitCode"]);
  const failed = (exitCode ?? 0) !== 0 || output?.["isError"] === true || output?.["success"] === false;
  return {
    ...call,
    tool: { ...call.tool, status: failed ? "error" : "success", durationMs: asCount(p["duration"]) },
    extras: { ...call.extras, exit_code: exitCode },
  };
}

function failureOf(payload: Payload): FramedMembers {
  const { p } = payload;
  const call = callOf(payload);
  const type = asCode(p["failure_type"]);
  const errorType = p["is_interrupt"] === true ? "interrupted" : type === "error" ? undefined : type;
  return {
    ...call,
    tool: { ...call.tool, status: "error", durationMs: asCount(p["duration"]) },
    extras: { ...call.extras, error_type: errorType, denied: type === "permission_denied" ? true : undefined },
  };
}

function shellOf({ p }: Payload): FramedMembers {
  const command = p["command"];
  return {
    tool: { name: "Shell" },
    extras: { input_digest: inputDigest({ command }), executable: executableOf(command) },
  };
}

/** The parent's event. The subagent's own events have another conversation id and do not name the parent. */
function subagentOf({ p, session }: Payload): FramedMembers {
  const parent = asString(p["parent_conversation_id"]);
  const id = subagentIdOf(p);
  return {
    key: id,
    extras: {
      agent_id: id,
      agent_type: asString(p["subagent_type"]),
      parent_session_id: parent === session.id ? undefined : parent,
    },
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
