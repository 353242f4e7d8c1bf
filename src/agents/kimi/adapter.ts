// https://moonshotai.github.io/kimi-code/en/customization/hooks, recordings and the program 2.1.0, read 2026-11-26

import type { Recognition } from "#core/model/agent.ts";
import type { Event, Extras } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { defined } from "#kit/defined.ts";
import { executableOf } from "../shared/names/executables.ts";
import { arrivalKey } from "../shared/payload/derived-ids.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asCode, asObject, asString, parsedJson } from "../shared/payload/json.ts";
import { type Marks, recogniseByMarks } from "../shared/payload/marks.ts";
import { eventOf, type PayloadEvent, sessionOf } from "../shared/payload/payload-event.ts";
import { exitCodeIn, isDenial, mcpServerOf, promptText, SHELL_TOOL } from "./names.ts";

export const SOURCE = "kimi";

/** Certain by the name of the client that every payload has. */
export const recognises = (payload: unknown, intake: IntakeFacts): Recognition =>
  recogniseByMarks(MARKS, payload, intake);

/** One payload → its event; none for payloads that are unknown or not needed for a trace. */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = asObject(payload);
  const native = asString(p?.["hook_event_name"]) ?? asString(intake.event);
  if (p === undefined || native === undefined) return [];
  const parsed = eventFrom(native, p);
  if (parsed === undefined) return [];
  const cwd = asString(p["cwd"]);
  const session = sessionOf(SOURCE, intake, { payload: p["session_id"], cwd });
  // Payloads have no time, so only the arrival distinguishes two equal ones that have no id
  const { once = arrivalKey(intake), ...event } = parsed;
  return [eventOf({ ...event, source: SOURCE, native, session, cwd, key: once }, intake)];
}

// --- internal ---

const MARKS: Marks = {
  folder: /[/\\]\.kimi-code[/\\]/,
  isOwn: (p) => p["client_type"] === "kimi_code_cli",
};

type Payload = Readonly<Record<string, unknown>>;
type NativeEvent = Omit<PayloadEvent, "source" | "native" | "session" | "key"> & {
  /** Identifies the event in its session. @default the time of its arrival */
  readonly once?: string;
};

function eventFrom(native: string, p: Payload): NativeEvent | undefined {
  switch (native) {
    case "SessionStart": {
      // Its `model` is the configured one, even if the session uses another
      const origin = asCode(p["source"]);
      const extras = defined<Extras>({
        start_origin: origin,
        continues: origin === "resume" ? "same-session" : undefined,
      });
      return { type: "session.start", extras, ...(origin === "startup" && { once: origin }) };
    }
    case "SessionEnd":
      // Also sent by `/clear` and by `kimi fork`, so it does not prove that the user quit
      return { type: "session.end", reason: "completed", extras: { native_reason: asCode(p["reason"]) ?? "other" } };
    case "UserPromptSubmit":
      // A message that steers the running turn starts none
      if (p["is_steer"] === true) return undefined;
      return {
        type: "prompt.submit",
        promptLength: promptText(p["prompt"])?.length,
        extras: { prompt_origin: "human" },
      };
    case "PreToolUse":
      return { type: "tool.start", ...callOf(p), extras: toolExtras(p) };
    case "PostToolUse":
      return toolEnd(p, undefined);
    case "PostToolUseFailure":
      return toolEnd(p, asObject(p["error"]) ?? {});
    case "Stop":
      return { type: "turn.end" };
    case "StopFailure":
      return { type: "turn.error", extras: { error_type: asCode(p["error_type"]) ?? "_OTHER" } };
    case "Interrupt":
      return { type: "turn.error", extras: { error_type: "interrupted" } };
    case "SubagentStart":
      return { type: "subagent.start", extras: agentExtras(p) };
    case "SubagentStop":
      // The subagent's own Stop, which looks like the main agent's, comes right before
      return { type: "subagent.end", extras: { ...agentExtras(p), follows_stop: true } };
    case "PreCompact":
      return { type: "compaction", extras: defined<Extras>({ trigger: asCode(p["trigger"]) }) };
    case "PermissionRequest":
    case "PermissionResult":
      return { type: "permission" };
    case "Notification":
      return {
        type: "notice",
        extras: defined<Extras>({ trigger: asCode(p["notification_type"]) }),
      };
    default:
      return undefined;
  }
}

const agentExtras = (p: Payload): Extras => defined<Extras>({ agent_type: asString(p["agent_name"]) });

/** The model's id of a call. Kimi's own models count calls, so the payload belongs to the identity of such an id. */
function callOf(p: Payload) {
  const callId = asString(p["tool_call_id"]);
  const { session_title: _, ...rest } = p;
  return {
    tool: { name: asString(p["tool_name"]), callId },
    ...(callId !== undefined && { once: isSequenceNumber(callId) ? `${callId}:${payloadDigest(rest)}` : callId }),
  };
}

function toolExtras(p: Payload): Extras {
  const input = parsedJson(p["tool_input"]);
  const callId = asString(p["tool_call_id"]);
  const name = asString(p["tool_name"]);
  return defined<Extras>({
    input_digest: callId === undefined ? inputDigest(input) : undefined,
    given_id: callId !== undefined && isSequenceNumber(callId) ? callId : undefined,
    executable: name === SHELL_TOOL ? executableOf(asObject(input)?.["command"]) : undefined,
    mcp_server: mcpServerOf(name),
  });
}

/** @param failure the error; `undefined`: the call succeeded */
function toolEnd(p: Payload, failure: Payload | undefined): NativeEvent {
  const { tool, ...call } = callOf(p);
  const message = asString(failure?.["message"]);
  const denied = isDenial(message) ? true : undefined;
  return {
    type: "tool.end",
    ...call,
    tool: { ...tool, status: failure === undefined ? "success" : "error" },
    extras: defined<Extras>({ ...toolExtras(p), denied, exit_code: exitCodeIn(tool.name, message) }),
  };
}
