// https://moonshotai.github.io/kimi-code/en/customization/hooks, recordings and the program 2.1.0, read 2026-11-26

import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { executableOf } from "../shared/names/executables.ts";
import { skillOf } from "../shared/names/skill.ts";
import { adapterOf, type MadeExtras, type Members, type Payload } from "../shared/payload/adapter-of.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asCode, asObject, asString, parsedJson } from "../shared/payload/json.ts";
import { exitCodeIn, isDenial, mcpServerOf, promptText, SHELL_TOOL } from "./names.ts";

export const adapter = adapterOf({
  source: "kimi",
  // Certain by the name of the client that every payload has
  recognises: { folder: /[/\\]\.kimi-code[/\\]/, isOwn: (p) => p["client_type"] === "kimi_code_cli" },
  // Payloads have no time, so only the arrival distinguishes two equal ones that have no id
  events: {
    SessionStart: {
      type: "session.start",
      read(p) {
        // Its `model` is the configured one, even if the session uses another
        const origin = asCode(p["source"]);
        const extras = { start_origin: origin, continues: origin === "resume" ? "same-session" : undefined } as const;
        return { extras, key: origin === "startup" ? origin : undefined };
      },
    },
    UserPromptSubmit: {
      type: "prompt.submit",
      or: ["nothing"],
      read(p) {
        // A message that steers the running turn starts none
        if (p["is_steer"] === true) return undefined;
        const promptLength = promptText(p["prompt"])?.length;
        return { promptLength, extras: { prompt_origin: "human" } };
      },
    },
    PreToolUse: { type: "tool.start", read: (p) => ({ ...callOf(p), extras: toolExtras(p) }) },
    PostToolUse: { type: "tool.end", read: (p) => toolEnd(p, undefined) },
    PostToolUseFailure: { type: "tool.end", read: (p) => toolEnd(p, asObject(p["error"]) ?? {}) },
    Stop: { type: "turn.end" },
    StopFailure: {
      type: "turn.error",
      read: (p) => ({ extras: { error_type: asCode(p["error_type"]) ?? "_OTHER" } }),
    },
    Interrupt: { type: "turn.error", read: () => ({ extras: { error_type: "interrupted" } }) },
    SubagentStart: {
      type: "subagent.start",
      hook: "none",
      read: (p) => ({ extras: { agent_type: asString(p["agent_name"]) } }),
    },
    // The subagent's own Stop, which looks like the main agent's, comes right before
    SubagentStop: {
      type: "subagent.end",
      read: (p) => ({ extras: { agent_type: asString(p["agent_name"]), follows_stop: true } }),
    },
    PreCompact: { type: "compaction", hook: "none", read: (p) => ({ extras: { trigger: asCode(p["trigger"]) } }) },
    PermissionRequest: { type: "permission", hook: "none" },
    PermissionResult: { type: "permission", hook: "none" },
    Notification: {
      type: "notice",
      hook: "none",
      read: (p) => ({ extras: { trigger: asCode(p["notification_type"]) } }),
    },
    // Also sent by `/clear` and by `kimi fork`, so it does not prove that the user quit
    SessionEnd: {
      type: "session.end",
      read: (p) => ({ reason: "completed", extras: { native_reason: asCode(p["reason"]) ?? "other" } }),
    },
  },
  notNeeded: "SessionHeartbeat UserPromptQueued TurnStarted TaskStarted PostCompact",
  fields: `hook_event_name session_id cwd client_type session_title source model profile prompt is_steer prompt_id queue_length
    turn_id origin_kind origin_name tool_name tool_input tool_call_id tool_output error error_type error_message agent_name
    response task_id kind detached started_at description status trigger token_count estimated_token_count
    notification_type source_id source_kind sink agent_id title body severity stop_hook_active reason action display
    session_cache_key decision scope feedback selected_label error_code id tool_use_id`,
});

// --- internal ---

/** The model's id of a call. Kimi's own models count calls, so the payload belongs to the identity of such an id. */
function callOf(p: Payload) {
  const callId = asString(p["tool_call_id"]);
  const { session_title: _, ...rest } = p;
  return {
    tool: { name: asString(p["tool_name"]), callId },
    key: callId !== undefined && isSequenceNumber(callId) ? `${callId}:${payloadDigest(rest)}` : callId,
  };
}

function toolExtras(p: Payload): MadeExtras {
  const input = parsedJson(p["tool_input"]);
  const callId = asString(p["tool_call_id"]);
  const name = asString(p["tool_name"]);
  return {
    input_digest: callId === undefined ? inputDigest(input) : undefined,
    given_id: callId !== undefined && isSequenceNumber(callId) ? callId : undefined,
    executable: name === SHELL_TOOL ? executableOf(asObject(input)?.["command"]) : undefined,
    skill: skillOf(name, input),
    mcp_server: mcpServerOf(name),
  };
}

/** @param failure the error; `undefined`: the call succeeded */
function toolEnd(p: Payload, failure: Payload | undefined): Members {
  const { tool, key } = callOf(p);
  const message = asString(failure?.["message"]);
  const denied = isDenial(message) ? true : undefined;
  return {
    key,
    tool: { ...tool, status: failure === undefined ? "success" : "error" },
    extras: { ...toolExtras(p), denied, exit_code: exitCodeIn(tool.name, message) },
  };
}
