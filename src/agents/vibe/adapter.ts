// Recordings of 3.0.3 and the hook reference inside its package, read 2026-11-26

import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { executableOf } from "../shared/names/executables.ts";
import { skillOf } from "../shared/names/skill.ts";
import {
  adapterOf,
  type EventTable,
  type MadeExtras,
  type Members,
  type Payload,
} from "../shared/payload/adapter-of.ts";
import { asCount, asExitCode, asObject, asString } from "../shared/payload/json.ts";
import { isKilled, mcpServerOf, SHELL_TOOL, toolName } from "./names.ts";

const EVENTS = {
  pre_tool: { type: "tool.start", read: (p) => ({ ...callOf(p), extras: toolExtras(p) }) },
  // No event follows an API error, and journals can be deleted while a turn runs. A drain some seconds after a tool reads them, once
  // for all calls until then
  post_tool: { type: "tool.end", or: ["notice"], read: toolEnd, hook: "soon" },
  post_agent: { type: "turn.end" },
} as const satisfies EventTable;

export const adapter = adapterOf({
  source: "vibe",
  // Certain by the event's name, or by the folder of the session
  recognises: {
    folder: /[/\\]\.vibe[/\\]logs[/\\]session[/\\]/,
    isOwn: (p) => Object.hasOwn(EVENTS, asString(p["hook_event_name"]) ?? "") && p["parent_session_id"] !== undefined,
  },
  // Payloads have no time, so only the arrival distinguishes the ends of two turns
  events: EVENTS,
  fields: `hook_event_name session_id parent_session_id transcript_path cwd tool_name tool_call_id tool_input tool_status
    tool_output tool_output_text tool_error duration_ms agent_name`,
  extrasOf(p, _, sessionId) {
    const parentId = asString(p["parent_session_id"]);
    return parentId === undefined || parentId === sessionId ? {} : { agent_id: sessionId, parent_session_id: parentId };
  },
});

// --- internal ---

function callOf(p: Payload) {
  const callId = asString(p["tool_call_id"]);
  const name = asString(p["tool_name"]);
  return {
    tool: { name: name === undefined ? undefined : toolName(name), callId },
    // Some providers count calls, and use an id again
    key: callId !== undefined && isSequenceNumber(callId) ? undefined : callId,
  };
}

function toolExtras(p: Payload): MadeExtras {
  const name = toolName(asString(p["tool_name"]) ?? "");
  const callId = asString(p["tool_call_id"]);
  return {
    executable: name === SHELL_TOOL ? executableOf(asObject(p["tool_input"])?.["command"]) : undefined,
    skill: skillOf(name, p["tool_input"]),
    mcp_server: mcpServerOf(name),
    given_id: callId !== undefined && isSequenceNumber(callId) ? callId : undefined,
  };
}

/** A command that exits with an error code is a success; the code is in its output. */
function toolEnd(p: Payload): Members {
  const { tool, key } = callOf(p);
  // Whole milliseconds are reported, so 0 is unknown
  const durationMs = asCount(p["duration_ms"]) || undefined;
  // The process before this one was killed in the call, which did not end
  if (durationMs === undefined && isKilled(tool.name, p["tool_output"]))
    return { type: "notice", extras: { trigger: "killed" } };
  const status = p["tool_status"];
  const isError = status === "failure" || status === "cancelled";
  return {
    key,
    tool: { ...tool, status: status === "success" ? "success" : isError ? "error" : undefined, durationMs },
    extras: {
      ...toolExtras(p),
      status_origin: "native",
      exit_code: tool.name === SHELL_TOOL ? asExitCode(asObject(p["tool_output"])?.["returncode"]) : undefined,
      error_type: status === "cancelled" ? "interrupted" : undefined,
    },
  };
}
