// https://code.claude.com/docs/en/hooks and recordings of 2.0.77 to 2.1.329, read 2026-11-21

import type { IntakeFacts, Recognition } from "../../model/agent.ts";
import { isSequenceNumber } from "../../model/call-ids.ts";
import { defined } from "../../model/defined.ts";
import type { SessionEndReason } from "../../model/envelope.ts";
import { OPENHOOK_VERSION } from "../../model/envelope-types.ts";
import type { Event, Extras } from "../../model/event.ts";
import { executableOf } from "../shared/names/executables.ts";
import { arrivalKey, derivedSessionId } from "../shared/payload/derived-ids.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { eventId, payloadDigest } from "../shared/payload/identity.ts";
import { asArray, asCode, asCount, asObject, asString, ownOf } from "../shared/payload/json.ts";
import { isMachinePrompt } from "./machine.ts";
import { patchLines } from "./patch.ts";

export const SOURCE = "claude-code";

/** Certain by the transcript's folder or the agent's environment variables; other agents' payloads have the same shape. */
export function recognises(payload: unknown, intake: IntakeFacts): Recognition {
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

/** Events of a payload; none for payloads that are unknown or not needed for a trace. */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = asObject(payload);
  const native = p === undefined ? undefined : nativeOf(p, intake);
  if (p === undefined || native === undefined) return [];
  const payloadSessionId = asString(p["session_id"]);
  if (payloadSessionId === undefined && asString(p["tool_name"]) === undefined) return [];
  const sessionId = payloadSessionId ?? derivedSessionId(SOURCE, intake, asString(p["cwd"]));

  const process = intake.env["CLAUDE_PID"] ?? (intake.parentPid === undefined ? undefined : String(intake.parentPid));
  const cwd = asString(p["cwd"]) ?? intake.cwd;
  const shared = defined<Extras>({
    native_event: native,
    prompt_id: asString(p["prompt_id"]),
    agent_id: asString(p["agent_id"]),
    agent_type: asString(p["agent_type"]),
    transcript_path: asString(p["transcript_path"]),
    permission_mode: asCode(p["permission_mode"]),
    mcp_server: mcpServerOf(asString(asObject(p["mcp_server"])?.["name"]), asString(p["tool_name"]) ?? ""),
    payload_bytes: intake.payloadBytes,
    truncated: intake.truncated ? true : undefined,
    session_id_origin: payloadSessionId === undefined ? "minted" : undefined,
    process,
  });
  const base = (key: string | undefined) => ({
    id: eventId(SOURCE, sessionId, native, key ?? `${process ?? ""}:${payloadDigest(payload)}`),
    source: SOURCE,
    time: new Date(intake.timeMs).toISOString(),
    session_id: sessionId,
    ...(cwd !== undefined && { cwd }),
  });
  const envelope = (key: string | undefined, extras: Extras = {}) => ({
    openhook: OPENHOOK_VERSION,
    ...base(key),
    extensions: { ...shared, ...extras },
  });
  const signal = (key: string | undefined, extras: Extras = {}) => ({
    ...base(key),
    extensions: { ...shared, ...extras },
  });

  // Without a prompt id, payloads of two turns or segments are byte-identical, so the arrival is part of the key
  const moment = p["prompt_id"] === undefined ? `${process ?? ""}:${arrivalKey(intake)}` : undefined;

  const callId = asString(p["tool_use_id"]);
  const isCounted = callId !== undefined && isSequenceNumber(callId);
  /** Numbered ids are reused in subagents and after compactions; there, input and turn distinguish two calls. */
  const callKey = isCounted ? undefined : callId;
  const givenId = isCounted ? callId : undefined;
  // Without a call id, the input identifies the call
  const digest = callId === undefined ? inputDigest(p["tool_input"]) : undefined;
  const tool = defined<{ tool_name: string; tool_call_id: string }>({
    tool_name: asString(p["tool_name"]),
    tool_call_id: callId,
  });

  switch (native) {
    case "SessionStart": {
      const origin = asCode(p["source"]);
      return [
        {
          type: "session.start",
          ...envelope(
            origin === "resume" ? moment : undefined,
            defined<Extras>({ start_origin: origin, continues: ownOf(CONTINUES, origin) }),
          ),
          data: defined<{ model: string }>({ model: asString(p["model"]) }),
        },
      ];
    }
    case "SessionEnd": {
      const reason = asCode(p["reason"]) ?? "other";
      return [
        {
          type: "session.end",
          ...envelope(moment, { native_reason: reason }),
          data: defined<{ reason: SessionEndReason; transcript_path: string }>({
            reason: ownOf(END_REASON, reason) ?? "completed",
            transcript_path: asString(p["transcript_path"]),
          }),
        },
      ];
    }
    case "UserPromptSubmit": {
      const prompt = typeof p["prompt"] === "string" ? p["prompt"] : undefined;
      return [
        {
          type: "prompt.submit",
          ...envelope(asString(p["prompt_id"]), {
            prompt_origin: isMachinePrompt(prompt) ? "machine" : "human",
          }),
          data: defined<{ prompt_length: number }>({ prompt_length: prompt?.length }),
        },
      ];
    }
    case "PreToolUse":
      return [
        {
          type: "tool.start",
          ...envelope(
            callKey,
            defined<Extras>({
              input_digest: digest,
              given_id: givenId,
              executable: executableOf(asObject(p["tool_input"])?.["command"]),
            }),
          ),
          data: tool,
        },
      ];
    case "PostToolUse": {
      const response = asObject(p["tool_response"]);
      return [
        {
          type: "tool.end",
          ...envelope(
            callKey,
            defined<Extras>({
              input_digest: digest,
              given_id: givenId,
              ...patchLines(response),
              spawned_agent_id: asString(response?.["agentId"]),
              executable: executableOf(asObject(p["tool_input"])?.["command"]),
            }),
          ),
          data: { ...tool, status: "success", ...duration(p) },
        },
      ];
    }
    case "PostToolUseFailure":
      return [
        {
          type: "tool.end",
          ...envelope(
            callKey,
            defined<Extras>({
              input_digest: digest,
              given_id: givenId,
              exit_code: exitCodeOf(p["error"]),
              error_type: p["is_interrupt"] === true ? "interrupted" : undefined,
              executable: executableOf(asObject(p["tool_input"])?.["command"]),
            }),
          ),
          data: { ...tool, status: "error", ...duration(p) },
        },
      ];
    case "PostToolBatch": {
      const ids = asArray(p["tool_calls"]).flatMap((call) => asString(asObject(call)?.["tool_use_id"]) ?? []);
      return [
        { type: "tool.batch", ...signal(ids.some(isSequenceNumber) ? undefined : ids[0], { tool_call_ids: ids }) },
      ];
    }
    case "PermissionDenied":
      return callId === undefined ? [] : [{ type: "tool.batch", ...signal(callKey, { tool_call_ids: [callId] }) }];
    case "Stop":
      return [{ type: "turn.end", ...signal(moment, { background_count: asArray(p["background_tasks"]).length }) }];
    case "StopFailure":
      return [{ type: "turn.error", ...signal(moment, { error_type: asCode(p["error"]) ?? "_OTHER" }) }];
    case "SubagentStart":
      return [{ type: "subagent.start", ...signal(moment) }];
    case "SubagentStop":
      return [{ type: "subagent.end", ...signal(moment) }];
    case "PreCompact":
      return [{ type: "compaction", ...signal(undefined, defined<Extras>({ trigger: asCode(p["trigger"]) })) }];
    default:
      return [];
  }
}

/** The exit code, which only the beginning of an error text has: `Exit code 2\n…`. */
export function exitCodeOf(error: unknown): number | undefined {
  const match = typeof error === "string" ? /^(?:Error: )?Exit code (\d{1,3})\b/.exec(error) : null;
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

// --- internal ---

const nativeOf = (p: Readonly<Record<string, unknown>>, intake: IntakeFacts): string | undefined =>
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

function duration(p: Readonly<Record<string, unknown>>): { duration_ms?: number } {
  const durationMs = asCount(p["duration_ms"]);
  return durationMs === undefined ? {} : { duration_ms: durationMs };
}
