import type { SessionEndReason } from "#core/model/envelope.ts";
import type { Extras } from "#core/model/event-schema.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { executableOf } from "../names/executables.ts";
import type { EventTable, HookAdapter, Members, Payload } from "./adapter-of.ts";
import { inputDigest } from "./digest.ts";
import { arrivalKey, payloadDigest } from "./identity.ts";
import { asCode, asObject, asString, asTimeMs, first, ownOf } from "./json.ts";
import { outcomeOf, type ToolOutcome } from "./outcome.ts";
import { absolutePath } from "./payload-event.ts";

/** The events of agents whose payloads have the shape of Claude Code's, under any field names; a table adds or removes rows. */
export const CLAUDE_EVENTS = {
  SessionStart: {
    type: "session.start",
    read: (p) => ({
      model: asString(p["model"]),
      extras: { start_origin: asCode(p["source"]), continues: ownOf(CONTINUES, asCode(p["source"])) },
    }),
  },
  SessionEnd: {
    type: "session.end",
    read: (p) => ({
      reason: ownOf(REASONS, asCode(p["reason"])) ?? "completed",
      extras: { native_reason: asCode(p["reason"]) },
    }),
  },
  UserPromptSubmit: { type: "prompt.submit", read: promptIn },
  PreToolUse: { type: "tool.start", read: toolStart },
  PostToolUse: { type: "tool.end", read: (p) => toolEnd(p, outcomeIn(p)) },
  PostToolUseFailure: { type: "tool.end", read: (p) => toolEnd(p, { status: "error", origin: "native" }) },
  Stop: { type: "turn.end" },
  StopFailure: { type: "turn.error", read: turnError },
  SubagentStart: { type: "subagent.start" },
  SubagentStop: { type: "subagent.end" },
  PreCompact: { type: "compaction", read: (p) => ({ extras: { trigger: asCode(p["trigger"]) } }) },
} as const satisfies EventTable;

/** Where such payloads have what all their events report. */
export const CLAUDE_LIKE = {
  nameIn: ["hook_event_name", "hookEventName", "event"],
  inAnyCase: true,
  sessionIn: ["session_id", "sessionId"],
  cwdOf: (p) => first(p, ["cwd", "working_dir"]),
  timeOf: (p) => asTimeMs(p["timestamp"]),
  // Several registrations send one event with the same time. Without a time, two equal payloads are two events
  keyOf: (p, intake) => (asTimeMs(p["timestamp"]) === undefined ? arrivalKey(intake) : payloadDigest(p)),
  extrasOf: (p, intake) => ({
    agent_id: first(p, ["agent_id", "agentId"]),
    agent_type: first(p, ["agent_type", "agentType", "agent_name"]),
    transcript_path: absolutePath(first(p, ["transcript_path", "transcriptPath"]), intake),
    permission_mode: asCode(p["permission_mode"]),
  }),
} as const satisfies Partial<HookAdapter>;

/** Documented events of agents with Claude Code's hooks that `CLAUDE_EVENTS` does not convert. */
export const FAMILY_NOT_NEEDED =
  "PostToolBatch PostCompact Notification PermissionRequest PermissionDenied Setup InstructionsLoaded QueryEnd";

/** Fields that those agents have in common. */
export const FAMILY_FIELDS = `session_id transcript_path cwd hook_event_name permission_mode prompt prompt_id source model reason
  trigger custom_instructions tool_name tool_input tool_use_id tool_response tool_output duration_ms error error_type
  error_message error_details is_interrupt stop_hook_active last_assistant_message agent_id agent_type agent_name
  agent_transcript_path message title notification_type permission_suggestions timestamp`;

/** A prompt is a text, or a list of parts, which has no length. */
export function promptIn(p: Payload): Members {
  const prompt = p["prompt"] ?? p["message"];
  return { promptLength: typeof prompt === "string" && prompt !== "" ? prompt.length : undefined };
}

export const callIdIn = (p: Payload): string | undefined =>
  first(p, ["tool_use_id", "tool_call_id", "toolUseId", "toolCallId"]);

export function toolStart(p: Payload): Members {
  const callId = callIdIn(p);
  const input = p["tool_input"] ?? p["toolInput"];
  return {
    // A numbered id is not unique, so the payload is the key: it is the same for several registrations of one hook
    key: callId !== undefined && isSequenceNumber(callId) ? `${callId}:${payloadDigest(p)}` : callId,
    tool: { name: first(p, ["tool_name", "toolName"]), callId },
    extras: {
      input_digest: callId === undefined ? inputDigest(input) : undefined,
      executable: executableOf(asObject(input)?.["command"]),
    },
  };
}

export function toolEnd(p: Payload, { status, exitCode, origin }: ToolOutcome): Members {
  const { key, tool, extras } = toolStart(p);
  return {
    key,
    tool: { name: tool?.name, callId: tool?.callId, status },
    extras: { ...extras, exit_code: exitCode, status_origin: origin },
  };
}

/** What a call's result says about it. */
export const outcomeIn = (p: Payload): ToolOutcome =>
  outcomeOf(p["tool_response"] ?? p["toolResponse"] ?? p["tool_output"]);

export function turnError(p: Payload): Members {
  return { extras: { error_type: asCode(p["error_type"]) ?? "_OTHER" } };
}

/** What a session continues, by the origin that its start names. */
export const CONTINUES: Readonly<Record<string, NonNullable<Extras["continues"]>>> = {
  resume: "same-session",
  continue: "same-session",
  checkpoint: "same-session",
  fork: "fork",
  compact: "compaction",
};

// --- internal ---

const REASONS: Readonly<Record<string, SessionEndReason>> = {
  prompt_input_exit: "user_exit",
  logout: "user_exit",
  exit: "user_exit",
  user_exit: "user_exit",
  error: "error",
  timeout: "timeout",
};
