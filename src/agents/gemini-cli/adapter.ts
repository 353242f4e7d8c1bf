// https://geminicli.com/docs/hooks/reference/, the program's own source and recordings of 0.61.0, read 2026-11-21

import type { Recognition } from "#core/model/agent.ts";
import type { SessionEndReason } from "#core/model/envelope.ts";
import type { Event, Extras } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { defined } from "#kit/defined.ts";
import { editedLines, exitCodeIn, isCancelled, SHELL_TOOL, textOf } from "../shared/gemini/tool-result.ts";
import { executableOf } from "../shared/names/executables.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asArray, asCode, asObject, asString, asTimeMs, ownOf, parsedJson } from "../shared/payload/json.ts";
import { eventOf, type PayloadEvent, sessionOf } from "../shared/payload/payload-event.ts";
import { isProgramText } from "./program-text.ts";

export const SOURCE = "gemini-cli";

/**
 * Certain by the session file's folder, or by an event name that no other agent uses. Otherwise the payload has the same shape as
 * other agents' payloads.
 */
export function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const p = asObject(payload);
  if (p === undefined || ["openhook", "cursor_version", "clineVersion"].some((key) => p[key] !== undefined))
    return "no";
  const native = asString(p["hook_event_name"]);
  // Without an event name in the payload, the command line must name both the agent and the event
  if (native === undefined) return intake.source === SOURCE ? "possible" : "no";
  const path = asString(p["transcript_path"]);
  if (path !== undefined && /[/\\]\.gemini[/\\]tmp[/\\]/.test(path)) return "certain";
  if (OWN_EVENTS.has(native)) return path === undefined ? "certain" : "likely";
  const sessionId = asString(p["session_id"]);
  if (sessionId !== undefined && intake.env["GEMINI_SESSION_ID"] === sessionId) return "certain";
  return SHARED_EVENTS.has(native) ? "possible" : "no";
}

/** One payload → its event; none for payloads that are unknown or not needed for a trace. */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = asObject(payload);
  const native = asString(p?.["hook_event_name"]) ?? asString(intake.event);
  if (p === undefined || native === undefined) return [];
  const parsed = eventFrom(native, p);
  if (parsed === undefined) return [];
  const cwd = asString(p["cwd"]);
  const timeMs = asTimeMs(p["timestamp"]);
  const session = sessionOf(SOURCE, intake, {
    payload: p["session_id"],
    environment: intake.env["GEMINI_SESSION_ID"],
    cwd,
  });
  // The payload's time distinguishes two equal calls; without a time, the process does
  const digest = payloadDigest(payload);
  const key = timeMs === undefined ? `${digest}:${intake.hookPid ?? ""}` : digest;
  const extras = defined<Extras>({ ...parsed.extras, transcript_path: asString(p["transcript_path"]) });
  return [eventOf({ ...parsed, source: SOURCE, native, session, cwd, timeMs, key, extras }, intake)];
}

// --- internal ---

/** Event names that no other agent uses. */
const OWN_EVENTS = new Set(
  "BeforeTool AfterTool BeforeAgent AfterAgent BeforeModel AfterModel BeforeToolSelection PreCompress".split(" "),
);
const SHARED_EVENTS = new Set(["SessionStart", "SessionEnd", "Notification", "Stop"]);

type Payload = Readonly<Record<string, unknown>>;
type NativeEvent = Omit<PayloadEvent, "source" | "native" | "session" | "key">;

function eventFrom(native: string, p: Payload): NativeEvent | undefined {
  switch (native) {
    case "SessionStart": {
      const origin = asCode(p["source"]);
      return {
        type: "session.start",
        extras: defined<Extras>({
          start_origin: origin,
          continues: origin === "resume" ? "same-session" : undefined,
        }),
      };
    }
    case "SessionEnd": {
      const reason = asCode(p["reason"]) ?? "other";
      return {
        type: "session.end",
        reason: ownOf(END_REASON, reason) ?? "completed",
        extras: { native_reason: reason },
      };
    }
    case "BeforeAgent":
      // The program wrote the text (loop detected, answer continued), and the turn continues
      if (isProgramText(asString(p["prompt"]))) return undefined;
      return {
        type: "prompt.submit",
        promptLength: typeof p["prompt"] === "string" ? p["prompt"].length : undefined,
        extras: { prompt_origin: "human" },
      };
    case "BeforeTool":
      return { type: "tool.start", tool: { name: asString(p["tool_name"]) }, extras: toolExtras(p) };
    case "AfterTool":
      return toolEnd(p);
    case "AfterAgent":
    case "Stop":
      return { type: "turn.end" };
    case "BeforeModel":
      return { type: "model.start" };
    case "AfterModel":
      // Sent for every chunk of the answer; only the last one has a finish reason
      return hasFinished(p["llm_response"]) ? { type: "model.end" } : undefined;
    case "Notification": {
      const trigger = asCode(p["notification_type"]);
      return {
        type: trigger === "ToolPermission" ? "permission" : "notice",
        extras: defined<Extras>({ trigger }),
      };
    }
    default:
      // PreCompress is sent before every request, compressed or not; BeforeToolSelection with every BeforeModel
      return undefined;
  }
}

/** `exit` is also sent at the end of a print-mode run and after an error, so it does not prove that the user quit. */
const END_REASON: Readonly<Record<string, SessionEndReason>> = {
  logout: "user_exit",
  prompt_input_exit: "user_exit",
};

function toolExtras(p: Payload): Extras {
  const input = parsedJson(p["tool_input"]);
  return defined<Extras>({
    input_digest: inputDigest(input),
    executable: p["tool_name"] === SHELL_TOOL ? executableOf(asObject(input)?.["command"]) : undefined,
    mcp_server: asString(asObject(p["mcp_context"])?.["server_name"]),
  });
}

function toolEnd(p: Payload): NativeEvent {
  const name = asString(p["tool_name"]);
  const response = asObject(p["tool_response"]);
  const text = textOf(response?.["llmContent"]);
  const error = response?.["error"];
  const cancelled = isCancelled(name, text);
  const failed = cancelled || (error !== undefined && error !== null);
  const lines = editedLines(response?.["returnDisplay"]);
  return {
    type: "tool.end",
    tool: { name, status: failed ? "error" : "success" },
    extras: defined<Extras>({
      ...toolExtras(p),
      error_type: cancelled ? "interrupted" : failed ? (asCode(asObject(error)?.["type"]) ?? "_OTHER") : undefined,
      exit_code: exitCodeIn(name, text),
      lines_added: lines?.added,
      lines_removed: lines?.removed,
    }),
  };
}

const hasFinished = (response: unknown): boolean =>
  asArray(asObject(response)?.["candidates"]).some(
    (candidate) => asString(asObject(candidate)?.["finishReason"]) !== undefined,
  );
