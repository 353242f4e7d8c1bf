// https://code.claude.com/docs/en/hooks and recordings of 2.0.77 to 2.1.329, read 2026-11-21

import type { Recognition } from "#core/model/agent.ts";
import type { SessionEndReason } from "#core/model/envelope.ts";
import type { Extras } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { executableOf } from "../shared/names/executables.ts";
import { skillOf } from "../shared/names/skill.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { type Frame, type FramedTable, framedAdapter } from "../shared/payload/framed-adapter.ts";
import { arrivalKey, payloadDigest } from "../shared/payload/identity.ts";
import { asArray, asCode, asCount, asObject, asString, type Fields, ownOf } from "../shared/payload/json.ts";
import { sessionOf } from "../shared/payload/payload-event.ts";
import { patchLines } from "./patch.ts";
import { exitCodeOf, isMachinePrompt } from "./texts.ts";

const SOURCE = "claude-code";

const EVENTS = {
  SessionStart: {
    type: "session.start",
    matcher: "*",
    read({ p, moment }) {
      const origin = asCode(p["source"]);
      return {
        key: origin === "resume" ? moment : undefined,
        model: asString(p["model"]),
        extras: { start_origin: origin, continues: ownOf(CONTINUES, origin) },
      };
    },
  },
  UserPromptSubmit: {
    type: "prompt.submit",
    read({ p }) {
      const prompt = typeof p["prompt"] === "string" ? p["prompt"] : undefined;
      return {
        key: asString(p["prompt_id"]),
        promptLength: prompt?.length,
        extras: { prompt_origin: isMachinePrompt(prompt) ? "machine" : "human" },
      };
    },
  },
  PreToolUse: { type: "tool.start", matcher: "*", read: ({ p }) => callOf(p) },
  PostToolUse: {
    type: "tool.end",
    matcher: "*",
    read({ p }) {
      const response = asObject(p["tool_response"]);
      const { key, tool, extras } = callOf(p);
      return {
        key,
        tool: { ...tool, status: "success", durationMs: asCount(p["duration_ms"]) },
        extras: { ...extras, ...patchLines(response), spawned_agent_id: asString(response?.["agentId"]) },
      };
    },
  },
  PostToolUseFailure: {
    type: "tool.end",
    since: "2.0.77",
    matcher: "*",
    read({ p }) {
      const { key, tool, extras } = callOf(p);
      return {
        key,
        tool: { ...tool, status: "error", durationMs: asCount(p["duration_ms"]) },
        extras: {
          ...extras,
          exit_code: exitCodeOf(p["error"]),
          error_type: p["is_interrupt"] === true ? "interrupted" : undefined,
        },
      };
    },
  },
  PostToolBatch: {
    type: "tool.batch",
    hook: "none",
    read({ p }) {
      const ids = asArray(p["tool_calls"]).flatMap((call) => asString(asObject(call)?.["tool_use_id"]) ?? []);
      return { key: ids.some(isSequenceNumber) ? undefined : ids[0], extras: { tool_call_ids: ids } };
    },
  },
  PermissionDenied: {
    type: "tool.batch",
    hook: "none",
    read({ p }) {
      const { key, tool } = callOf(p);
      return tool.callId === undefined ? undefined : { key, extras: { tool_call_ids: [tool.callId] } };
    },
  },
  Stop: {
    type: "turn.end",
    read: ({ p, moment }) => ({
      key: moment,
      extras: { background_count: asArray(p["background_tasks"]).length },
    }),
  },
  StopFailure: {
    type: "turn.error",
    since: "2.1.80",
    read: ({ p, moment }) => ({ key: moment, extras: { error_type: asCode(p["error"]) ?? "_OTHER" } }),
  },
  SubagentStart: { type: "subagent.start", since: "2.0.55", read: ({ moment }) => ({ key: moment }) },
  SubagentStop: { type: "subagent.end", read: ({ moment }) => ({ key: moment }) },
  PreCompact: { type: "compaction", hook: "none", read: ({ p }) => ({ extras: { trigger: asCode(p["trigger"]) } }) },
  SessionEnd: {
    type: "session.end",
    since: "1.0.128",
    matcher: "*",
    read({ p, moment }) {
      const reason = asCode(p["reason"]) ?? "other";
      return { key: moment, reason: ownOf(END_REASON, reason) ?? "completed", extras: { native_reason: reason } };
    },
  },
} as const satisfies FramedTable<Payload>;

/** Names of events that give something. */
export type NativeName = keyof typeof EVENTS;

export const adapter = framedAdapter({
  source: SOURCE,
  recognises,
  events: EVENTS,
  notNeeded: `Setup InstructionsLoaded UserPromptExpansion PermissionRequest TaskCreated TaskCompleted PostCompact Notification
    CwdChanged MessageDisplay ConfigChange FileChanged DirectoryAdded WorktreeCreate WorktreeRemove Elicitation
    ElicitationResult TeammateIdle PreModelSwitch PostModelSwitch PreSkillShellCommand`,
  // Schema of 2.1.332, read 2026-11-28, and recordings of 2.0.77 to 2.1.329
  fields: `session_id transcript_path cwd hook_event_name prompt_id permission_mode effort agent_id agent_type
    source model seconds_since_last_response context_tokens prompt_cache_likely_expired estimated_cache_write_usd
    session_title trigger file_path memory_type load_reason prompt expansion_type command_name command_args command_source
    tool_name tool_input tool_use_id tool_response tool_output tool_calls mcp_server duration_ms permission_suggestions
    error error_details is_interrupt reason stop_hook_active last_assistant_message background_tasks session_crons
    agent_transcript_path task_id task_subject task_description custom_instructions compact_summary
    message title notification_type old_cwd new_cwd turn_id message_id index final delta name invoked_by scratchpad_dir`,
  frameOf,
});

// --- internal ---

interface Payload extends Frame {
  readonly p: Fields;
  /** Key of events without an id. Without a prompt id, payloads of two turns or segments are byte-identical. */
  readonly moment: string | undefined;
}

/** Certain by the transcript's folder or the agent's environment variables; other agents' payloads have the same shape. */
function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const p = asObject(payload);
  if (p === undefined || p["cursor_version"] !== undefined) return "no";
  if (!/^[A-Z]/.test(nativeOf(p, intake) ?? "")) return "no";
  // Agents with similar hooks omit these fields
  if (asString(p["session_id"]) === undefined || p["hook_event_name"] === undefined) {
    return intake.source === SOURCE && asString(p["tool_name"]) !== undefined ? "possible" : "no";
  }
  const path = asString(p["transcript_path"]) ?? "";
  const folder = intake.env["CLAUDE_CONFIG_DIR"] ?? "";
  if (/[/\\]\.claude[/\\]/.test(path) || (folder !== "" && path.startsWith(folder))) return "certain";
  if (p["session_id"] === intake.env["CLAUDE_CODE_SESSION_ID"]) return "certain";
  // Agents that Claude Code starts inherit the variable
  return intake.source === SOURCE && intake.env["CLAUDE_PID"] !== undefined ? "likely" : "possible";
}

/** @returns `undefined` without an event name, or with neither a session id nor a tool */
function frameOf(payload: unknown, intake: IntakeFacts): Payload | undefined {
  const p = asObject(payload);
  const native = p === undefined ? undefined : nativeOf(p, intake);
  if (p === undefined || native === undefined) return undefined;
  if (asString(p["session_id"]) === undefined && asString(p["tool_name"]) === undefined) return undefined;

  const process = intake.env["CLAUDE_PID"] ?? (intake.parentPid === undefined ? undefined : String(intake.parentPid));
  const cwd = asString(p["cwd"]);
  return {
    p,
    native,
    session: sessionOf(SOURCE, intake, { payload: p["session_id"], cwd }),
    cwd,
    key: `${process ?? ""}:${payloadDigest(payload)}`,
    moment: p["prompt_id"] === undefined ? `${process ?? ""}:${arrivalKey(intake)}` : undefined,
    extras: {
      prompt_id: asString(p["prompt_id"]),
      agent_id: asString(p["agent_id"]),
      agent_type: asString(p["agent_type"]),
      transcript_path: asString(p["transcript_path"]),
      permission_mode: asCode(p["permission_mode"]),
      mcp_server: mcpServerOf(asString(asObject(p["mcp_server"])?.["name"]), asString(p["tool_name"]) ?? ""),
      process,
    },
  };
}

/** How a payload names its tool call. */
function callOf(p: Fields) {
  const callId = asString(p["tool_use_id"]);
  // Numbered ids are reused in subagents and after compactions; there, input and turn distinguish two calls
  const isCounted = callId !== undefined && isSequenceNumber(callId);
  return {
    key: isCounted ? undefined : callId,
    tool: { name: asString(p["tool_name"]), callId },
    extras: {
      // Without a call id, the input identifies the call
      input_digest: callId === undefined ? inputDigest(p["tool_input"]) : undefined,
      given_id: isCounted ? callId : undefined,
      executable: executableOf(asObject(p["tool_input"])?.["command"]),
      skill: skillOf(asString(p["tool_name"]), p["tool_input"]),
    },
  };
}

const nativeOf = (p: Fields, intake: IntakeFacts): string | undefined =>
  asString(p["hook_event_name"]) ?? (intake.source === SOURCE ? intake.event : undefined);

/** Hooks have a server's own name (`plugin:docs:docs`). Transcripts have only tool names, in which some characters are replaced. */
function mcpServerOf(name: string | undefined, tool: string): string | undefined {
  const plain = name?.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  // Claude Code's rule for names of claude.ai connectors
  const connector = plain?.replaceAll(/_+/g, "_").replaceAll(/^_|_$/g, "");
  return [plain, connector].find((written) => tool.startsWith(`mcp__${written}__`)) ?? name;
}

const CONTINUES: Readonly<Record<string, NonNullable<Extras["continues"]>>> = {
  resume: "same-session",
  fork: "fork",
  compact: "compaction",
};

const END_REASON: Readonly<Record<string, SessionEndReason>> = {
  prompt_input_exit: "user_exit",
  logout: "user_exit",
  clear: "completed",
  resume: "completed",
  other: "completed",
};
