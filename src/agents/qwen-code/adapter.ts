// https://qwenlm.github.io/qwen-code-docs/en/users/features/hooks/, recordings and the program 0.24.4, read 2026-11-26

import type { SessionEndReason } from "#core/model/envelope.ts";
import type { Extras } from "#core/model/event-schema.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { editedLines, exitCodeIn, isCancelled, outcomeOf, SHELL_TOOL, textOf } from "../shared/gemini/tool-result.ts";
import { executableOf } from "../shared/names/executables.ts";
import { skillOf } from "../shared/names/skill.ts";
import { adapterOf, type MadeExtras, type Members, type Payload } from "../shared/payload/adapter-of.ts";
import { FAMILY_FIELDS } from "../shared/payload/claude-like.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { timedKey } from "../shared/payload/identity.ts";
import { asArray, asCode, asCount, asObject, asString, asTimeMs, ownOf, parsedJson } from "../shared/payload/json.ts";
import { isDenial, isHiddenAgent, mcpServerOf, spawnedAgent, subagentIdOf } from "./names.ts";

export const adapter = adapterOf({
  source: "qwen-code",
  // Certain by the session file's folder, by the session id that the program sets for its hooks, or by its own members
  recognises: {
    folder: /[/\\]\.qwen[/\\]/,
    sessionVariable: "QWEN_CODE_SESSION_ID",
    members: ["submitted_prompt", ["tool_use_id", "tool_call_id"]],
  },
  events: {
    SessionStart: {
      type: "session.start",
      read(p) {
        const origin = asCode(p["source"]);
        const extras = { start_origin: origin, continues: ownOf(CONTINUES, origin) };
        return { model: asString(p["model"]), extras };
      },
    },
    UserPromptSubmit: {
      type: "prompt.submit",
      or: ["nothing"],
      read(p) {
        // Also sent after every round of tools, without the prompt that the user submitted
        const promptLength = asString(p["submitted_prompt"])?.length;
        return promptLength === undefined ? undefined : { promptLength, extras: { prompt_origin: "human" } };
      },
    },
    PreToolUse: { type: "tool.start", read: (p) => ({ tool: toolOf(p), extras: toolExtras(p) }) },
    PostToolUse: { type: "tool.end", read: (p) => toolEnd(p, false) },
    PostToolUseFailure: { type: "tool.end", read: (p) => toolEnd(p, true) },
    PostToolBatch: {
      type: "tool.end",
      or: ["nothing"],
      // A batch is needed if nothing else reports the end of a call
      read: (p, intake) =>
        asArray(p["tool_calls"]).flatMap((call) => endWithoutStart(asObject(call) ?? {}, timedKey(p, intake))),
    },
    Stop: {
      type: "turn.end",
      read(p) {
        const running = asArray(p["background_tasks"]).filter((task) => asObject(task)?.["status"] === "running");
        return { extras: { background_count: running.length || undefined } };
      },
    },
    StopFailure: { type: "turn.error", read: (p) => ({ extras: { error_type: asCode(p["error"]) ?? "_OTHER" } }) },
    // Subagents are needed if the user's call started them
    SubagentStart: { type: "subagent.start", or: ["nothing"], read: unlessHidden },
    SubagentStop: { type: "subagent.end", or: ["nothing"], read: unlessHidden },
    PreCompact: { type: "compaction", read: (p) => ({ extras: { trigger: asCode(p["trigger"]) } }) },
    PermissionRequest: { type: "permission", hook: "none" },
    PermissionDenied: { type: "permission", hook: "none" },
    Notification: {
      type: "notice",
      hook: "none",
      read: (p) => ({ extras: { trigger: asCode(p["notification_type"]) } }),
    },
    SessionEnd: {
      type: "session.end",
      read(p) {
        const reason = asCode(p["reason"]) ?? "other";
        return { reason: ownOf(END_REASON, reason) ?? "completed", extras: { native_reason: reason } };
      },
    },
  },
  notNeeded: `UserPromptExpansion MessageDisplay SessionDelete TodoCreated TodoCompleted InstructionsLoaded PostCompact Setup
    QueryEnd`,
  fields: `query response submitted_prompt tool_call_id tool_calls message_id displayed_text is_final file_path memory_type
    load_reason background_tasks crons context_usage context_limit input_tokens compact_summary deleted_session_id
    command_name command_args todo_id todo_content todo_status previous_status all_todos trigger_file_path parent_file_path
    source_type source_id ${FAMILY_FIELDS}`,
  sessionVariable: "QWEN_CODE_SESSION_ID",
  timeOf: (p) => asTimeMs(p["timestamp"]),
  keyOf: timedKey,
  extrasOf: (p) => ({
    agent_id: subagentIdOf(p["agent_id"]),
    agent_type: asString(p["agent_type"]),
    permission_mode: asCode(p["permission_mode"]),
    transcript_path: asString(p["transcript_path"]),
  }),
});

// --- internal ---

const CONTINUES: Readonly<Record<string, NonNullable<Extras["continues"]>>> = {
  resume: "same-session",
  compact: "compaction",
};

const END_REASON: Readonly<Record<string, SessionEndReason>> = {
  prompt_input_exit: "user_exit",
  logout: "user_exit",
};

function unlessHidden(p: Payload): Members | undefined {
  return isHiddenAgent(asString(p["agent_id"])) ? undefined : {};
}

/** `tool_call_id` is the model's id, as in the session file; `tool_use_id` exists in hooks only. */
const toolOf = (p: Payload) => ({ name: asString(p["tool_name"]), callId: asString(p["tool_call_id"]) });

function toolExtras(p: Payload): MadeExtras {
  const input = parsedJson(p["tool_input"]);
  const callId = asString(p["tool_call_id"]);
  const isCounted = callId !== undefined && isSequenceNumber(callId);
  return {
    input_digest: callId === undefined ? inputDigest(input) : undefined,
    given_id: isCounted ? callId : undefined,
    executable: p["tool_name"] === SHELL_TOOL ? executableOf(asObject(input)?.["command"]) : undefined,
    skill: skillOf(asString(p["tool_name"]), input),
    mcp_server: mcpServerOf(asString(p["tool_name"])),
  };
}

function toolEnd(p: Payload, isFailure: boolean): Members {
  const name = asString(p["tool_name"]);
  const response = asObject(p["tool_response"]);
  const text = isFailure ? asString(p["error"]) : textOf(response?.["llmContent"]);
  const isInterrupted = p["is_interrupt"] === true || isCancelled(name, text);
  const lines = isFailure ? undefined : editedLines(response?.["returnDisplay"]);
  return {
    tool: {
      ...toolOf(p),
      status: isFailure || isInterrupted ? "error" : "success",
      durationMs: asCount(p["duration_ms"]),
    },
    extras: {
      ...toolExtras(p),
      error_type: isInterrupted ? "interrupted" : undefined,
      exit_code: exitCodeIn(name, text),
      lines_added: lines?.added,
      lines_removed: lines?.removed,
      spawned_agent_id: spawnedAgent(name, asString(p["tool_call_id"]), response?.["returnDisplay"], p["tool_input"]),
    },
  };
}

/** The end of a call that never ran: refused, cancelled, or with invalid arguments. No other hook reports it. */
function endWithoutStart(call: Payload, key: string): readonly Members[] {
  const response = asObject(call["tool_response"]);
  const callId = asString(call["tool_call_id"]);
  if (callId === undefined || response?.["execution_status"] !== "not_started") return [];
  const error = asString(response["error"]) ?? textOf(response["result_display"]);
  const outcome = outcomeOf(call["status"], error, false);
  const isDenied = outcome?.status === "denied" || isDenial(response["error_type"]);
  return [
    {
      key: `${key}:${callId}`,
      tool: { name: asString(call["tool_name"]), callId, status: "error" },
      extras: {
        ...toolExtras(call),
        denied: isDenied ? true : undefined,
        error_type: isDenied ? undefined : (outcome?.errorType ?? asCode(response["error_type"])),
      },
    },
  ];
}
