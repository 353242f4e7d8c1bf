// https://qwenlm.github.io/qwen-code-docs/en/users/features/hooks/, recordings and the program 0.24.4, read 2026-11-26

import type { Recognition } from "#core/model/agent.ts";
import type { SessionEndReason } from "#core/model/envelope.ts";
import type { Event, Extras } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { defined } from "#kit/defined.ts";
import { editedLines, exitCodeIn, isCancelled, outcomeOf, SHELL_TOOL, textOf } from "../shared/gemini/tool-result.ts";
import { executableOf } from "../shared/names/executables.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asArray, asCode, asCount, asObject, asString, asTimeMs, ownOf, parsedJson } from "../shared/payload/json.ts";
import { type Marks, recogniseByMarks } from "../shared/payload/marks.ts";
import { eventOf, type PayloadEvent, sessionOf } from "../shared/payload/payload-event.ts";
import { isDenial, isHiddenAgent, mcpServerOf, spawnedAgent, subagentIdOf } from "./names.ts";

export const SOURCE = "qwen-code";

/** Certain by the session file's folder, by the session id that the program sets for its hooks, or by its own members. */
export const recognises = (payload: unknown, intake: IntakeFacts): Recognition =>
  recogniseByMarks(MARKS, payload, intake);

/** Events of a payload; none for payloads that are unknown or not needed for a trace. */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = asObject(payload);
  const native = asString(p?.["hook_event_name"]) ?? asString(intake.event);
  if (p === undefined || native === undefined) return [];
  const cwd = asString(p["cwd"]);
  const timeMs = asTimeMs(p["timestamp"]);
  const session = sessionOf(SOURCE, intake, {
    payload: p["session_id"],
    environment: intake.env["QWEN_CODE_SESSION_ID"],
    cwd,
  });
  const digest = payloadDigest(payload);
  // The payload's time distinguishes equal payloads; without a time, the hook's process does
  const once = timeMs === undefined ? `${digest}:${intake.hookPid ?? ""}` : digest;
  const shared = defined<Extras>({
    agent_id: subagentIdOf(p["agent_id"]),
    agent_type: asString(p["agent_type"]),
    permission_mode: asCode(p["permission_mode"]),
    transcript_path: asString(p["transcript_path"]),
  });
  return eventsFrom(native, p).map(({ keyPart, ...event }) => {
    const key = keyPart === undefined ? once : `${once}:${keyPart}`;
    const extras = defined<Extras>({ ...shared, ...event.extras });
    return eventOf({ ...event, source: SOURCE, native, session, cwd, timeMs, key, extras }, intake);
  });
}

// --- internal ---

const MARKS: Marks = {
  folder: /[/\\]\.qwen[/\\]/,
  sessionVariable: "QWEN_CODE_SESSION_ID",
  members: ["submitted_prompt", ["tool_use_id", "tool_call_id"]],
};

type Payload = Readonly<Record<string, unknown>>;
type NativeEvent = Omit<PayloadEvent, "source" | "native" | "session" | "key"> & {
  /** Distinguishes several events of one payload. */
  readonly keyPart?: string;
};

const CONTINUES: Readonly<Record<string, NonNullable<Extras["continues"]>>> = {
  resume: "same-session",
  compact: "compaction",
};

const END_REASON: Readonly<Record<string, SessionEndReason>> = {
  prompt_input_exit: "user_exit",
  logout: "user_exit",
};

function eventsFrom(native: string, p: Payload): readonly NativeEvent[] {
  switch (native) {
    case "SessionStart": {
      const origin = asCode(p["source"]);
      const extras = { start_origin: origin, continues: ownOf(CONTINUES, origin) } as Extras;
      return [{ type: "session.start", model: asString(p["model"]), extras }];
    }
    case "SessionEnd": {
      const reason = asCode(p["reason"]) ?? "other";
      return [
        {
          type: "session.end",
          reason: ownOf(END_REASON, reason) ?? "completed",
          extras: { native_reason: reason },
        },
      ];
    }
    case "UserPromptSubmit": {
      // Also sent after every round of tools, without the prompt that the user submitted
      const submitted = asString(p["submitted_prompt"]);
      if (submitted === undefined) return [];
      return [{ type: "prompt.submit", promptLength: submitted.length, extras: { prompt_origin: "human" } }];
    }
    case "PreToolUse":
      return [{ type: "tool.start", tool: toolOf(p), extras: toolExtras(p) }];
    case "PostToolUse":
    case "PostToolUseFailure":
      return [toolEnd(p, native === "PostToolUseFailure")];
    case "PostToolBatch":
      return asArray(p["tool_calls"]).flatMap((call) => endWithoutStart(asObject(call) ?? {}));
    case "Stop": {
      const running = asArray(p["background_tasks"]).filter((task) => asObject(task)?.["status"] === "running");
      return [{ type: "turn.end", extras: running.length > 0 ? { background_count: running.length } : {} }];
    }
    case "StopFailure":
      return [{ type: "turn.error", extras: { error_type: asCode(p["error"]) ?? "_OTHER" } }];
    case "SubagentStart":
      return isHiddenAgent(asString(p["agent_id"])) ? [] : [{ type: "subagent.start" }];
    case "SubagentStop":
      return isHiddenAgent(asString(p["agent_id"])) ? [] : [{ type: "subagent.end" }];
    case "PreCompact":
      return [{ type: "compaction", extras: defined<Extras>({ trigger: asCode(p["trigger"]) }) }];
    case "PermissionRequest":
    case "PermissionDenied":
      return [{ type: "permission" }];
    case "Notification":
      return [{ type: "notice", extras: defined<Extras>({ trigger: asCode(p["notification_type"]) }) }];
    default:
      return [];
  }
}

/** `tool_call_id` is the model's id, as in the session file; `tool_use_id` exists in hooks only. */
const toolOf = (p: Payload) => ({ name: asString(p["tool_name"]), callId: asString(p["tool_call_id"]) });

function toolExtras(p: Payload): Extras {
  const input = parsedJson(p["tool_input"]);
  const callId = asString(p["tool_call_id"]);
  const isCounted = callId !== undefined && isSequenceNumber(callId);
  return defined<Extras>({
    input_digest: callId === undefined ? inputDigest(input) : undefined,
    given_id: isCounted ? callId : undefined,
    executable: p["tool_name"] === SHELL_TOOL ? executableOf(asObject(input)?.["command"]) : undefined,
    mcp_server: mcpServerOf(asString(p["tool_name"])),
  });
}

function toolEnd(p: Payload, isFailure: boolean): NativeEvent {
  const name = asString(p["tool_name"]);
  const response = asObject(p["tool_response"]);
  const text = isFailure ? asString(p["error"]) : textOf(response?.["llmContent"]);
  const isInterrupted = p["is_interrupt"] === true || isCancelled(name, text);
  const lines = isFailure ? undefined : editedLines(response?.["returnDisplay"]);
  return {
    type: "tool.end",
    tool: {
      ...toolOf(p),
      status: isFailure || isInterrupted ? "error" : "success",
      durationMs: asCount(p["duration_ms"]),
    },
    extras: defined<Extras>({
      ...toolExtras(p),
      error_type: isInterrupted ? "interrupted" : undefined,
      exit_code: exitCodeIn(name, text),
      lines_added: lines?.added,
      lines_removed: lines?.removed,
      spawned_agent_id: spawnedAgent(name, asString(p["tool_call_id"]), response?.["returnDisplay"], p["tool_input"]),
    }),
  };
}

/** The end of a call that never ran: refused, cancelled, or with invalid arguments. No other hook reports it. */
function endWithoutStart(call: Payload): readonly NativeEvent[] {
  const response = asObject(call["tool_response"]);
  const callId = asString(call["tool_call_id"]);
  if (callId === undefined || response?.["execution_status"] !== "not_started") return [];
  const error = asString(response["error"]) ?? textOf(response["result_display"]);
  const outcome = outcomeOf(call["status"], error, false);
  const isDenied = outcome?.status === "denied" || isDenial(response["error_type"]);
  return [
    {
      type: "tool.end",
      keyPart: callId,
      tool: { name: asString(call["tool_name"]), callId, status: "error" },
      extras: defined<Extras>({
        ...toolExtras(call),
        denied: isDenied ? true : undefined,
        error_type: isDenied ? undefined : (outcome?.errorType ?? asCode(response["error_type"])),
      }),
    },
  ];
}
