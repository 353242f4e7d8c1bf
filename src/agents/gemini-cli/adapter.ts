// https://geminicli.com/docs/hooks/reference/, the program's own source and recordings of 0.61.0, read 2026-11-21

import type { Recognition } from "#core/model/agent.ts";
import type { SessionEndReason } from "#core/model/envelope.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { editedLines, exitCodeIn, isCancelled, SHELL_TOOL, textOf } from "../shared/gemini/tool-result.ts";
import { executableOf } from "../shared/names/executables.ts";
import { skillOf } from "../shared/names/skill.ts";
import { adapterOf, type MadeExtras, type Members, type Payload } from "../shared/payload/adapter-of.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { timedKey } from "../shared/payload/identity.ts";
import { asArray, asCode, asObject, asString, asTimeMs, ownOf, parsedJson } from "../shared/payload/json.ts";

export const adapter = adapterOf({
  source: "gemini-cli",
  recognises,
  events: {
    SessionStart: {
      type: "session.start",
      read(p) {
        const origin = asCode(p["source"]);
        return { extras: { start_origin: origin, continues: origin === "resume" ? "same-session" : undefined } };
      },
    },
    BeforeAgent: {
      type: "prompt.submit",
      or: ["nothing"],
      read(p) {
        // The program wrote the text (loop detected, answer continued), and the turn continues
        if (isProgramText(asString(p["prompt"]))) return undefined;
        const promptLength = typeof p["prompt"] === "string" ? p["prompt"].length : undefined;
        return { promptLength, extras: { prompt_origin: "human" } };
      },
    },
    BeforeModel: { type: "model.start", hook: "none" },
    // Sent for every chunk of the answer; only the last one has a finish reason
    AfterModel: {
      type: "model.end",
      hook: "none",
      or: ["nothing"],
      read: (p) => (hasFinished(p["llm_response"]) ? {} : undefined),
    },
    BeforeTool: {
      type: "tool.start",
      read: (p) => ({ tool: { name: asString(p["tool_name"]) }, extras: toolExtras(p) }),
    },
    AfterTool: { type: "tool.end", read: toolEnd },
    Notification: {
      type: "notice",
      hook: "none",
      or: ["permission"],
      read(p) {
        const trigger = asCode(p["notification_type"]);
        return { type: trigger === "ToolPermission" ? "permission" : "notice", extras: { trigger } };
      },
    },
    Stop: { type: "turn.end", hook: "none" },
    AfterAgent: { type: "turn.end" },
    SessionEnd: {
      type: "session.end",
      read(p) {
        const reason = asCode(p["reason"]) ?? "other";
        return { reason: ownOf(END_REASON, reason) ?? "completed", extras: { native_reason: reason } };
      },
    },
  },
  // PreCompress is sent before every request, compressed or not; BeforeToolSelection with every BeforeModel
  notNeeded: "BeforeToolSelection PreCompress",
  fields: `session_id transcript_path cwd hook_event_name timestamp source reason prompt prompt_response stop_hook_active
    llm_request llm_response tool_name tool_input tool_response mcp_context original_request_name trigger notification_type
    message details`,
  sessionVariable: "GEMINI_SESSION_ID",
  timeOf: (p) => asTimeMs(p["timestamp"]),
  // The payload's time distinguishes two equal calls
  keyOf: timedKey,
  extrasOf: (p) => ({ transcript_path: asString(p["transcript_path"]) }),
});

/** The history's first message: folder, operating system and date. */
export const isContext = (text: string | undefined): boolean => text?.startsWith("<session_context>") === true;

/** Texts with the role `user` that the program writes. */
export const isProgramText = (text: string | undefined): boolean =>
  isContext(text) ||
  text === "Please continue." ||
  /^(?:<state_snapshot>|System: Potential loop detected\.|\[System: You (?:successfully executed a tool|previously) |Here is (?:the user's|a summary of changes in the user's) editor context\b|I ran the following shell command:\n```sh\n)/.test(
    text ?? "",
  );

// --- internal ---

/**
 * Certain by the session file's folder, or by an event name that no other agent uses. Otherwise the payload has the same shape as
 * other agents' payloads.
 */
function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const p = asObject(payload);
  if (p === undefined || ["openhook", "cursor_version", "clineVersion"].some((key) => p[key] !== undefined))
    return "no";
  const native = asString(p["hook_event_name"]);
  // Without an event name in the payload, the command line must name both the agent and the event
  if (native === undefined) return intake.source === adapter.source ? "possible" : "no";
  const path = asString(p["transcript_path"]);
  if (path !== undefined && /[/\\]\.gemini[/\\]tmp[/\\]/.test(path)) return "certain";
  if (isOwnEvent(native)) return path === undefined ? "certain" : "likely";
  const sessionId = asString(p["session_id"]);
  if (sessionId !== undefined && intake.env["GEMINI_SESSION_ID"] === sessionId) return "certain";
  return SHARED_EVENTS.has(native) ? "possible" : "no";
}

const SHARED_EVENTS: ReadonlySet<string> = new Set(["SessionStart", "SessionEnd", "Notification", "Stop"]);

/** Whether no other agent uses an event's name. */
const isOwnEvent = (name: string): boolean => adapter.known.events.includes(name) && !SHARED_EVENTS.has(name);

/** `exit` is also sent at the end of a print-mode run and after an error, so it does not prove that the user quit. */
const END_REASON: Readonly<Record<string, SessionEndReason>> = {
  logout: "user_exit",
  prompt_input_exit: "user_exit",
};

function toolExtras(p: Payload): MadeExtras {
  const input = parsedJson(p["tool_input"]);
  return {
    input_digest: inputDigest(input),
    executable: p["tool_name"] === SHELL_TOOL ? executableOf(asObject(input)?.["command"]) : undefined,
    skill: skillOf(asString(p["tool_name"]), input),
    mcp_server: asString(asObject(p["mcp_context"])?.["server_name"]),
  };
}

function toolEnd(p: Payload): Members {
  const name = asString(p["tool_name"]);
  const response = asObject(p["tool_response"]);
  const text = textOf(response?.["llmContent"]);
  const error = response?.["error"];
  const cancelled = isCancelled(name, text);
  const failed = cancelled || (error !== undefined && error !== null);
  const lines = editedLines(response?.["returnDisplay"]);
  return {
    tool: { name, status: failed ? "error" : "success" },
    extras: {
      ...toolExtras(p),
      error_type: cancelled ? "interrupted" : failed ? (asCode(asObject(error)?.["type"]) ?? "_OTHER") : undefined,
      exit_code: exitCodeIn(name, text),
      lines_added: lines?.added,
      lines_removed: lines?.removed,
    },
  };
}

const hasFinished = (response: unknown): boolean =>
  asArray(asObject(response)?.["candidates"]).some(
    (candidate) => asString(asObject(candidate)?.["finishReason"]) !== undefined,
  );
