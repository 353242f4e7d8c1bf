// Recordings of 3.0.3 and the hook reference inside its package, read 2026-11-26

import type { Recognition } from "#core/model/agent.ts";
import type { Event, Extras } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { defined } from "#kit/defined.ts";
import { executableOf } from "../shared/names/executables.ts";
import { arrivalKey } from "../shared/payload/derived-ids.ts";
import { asCount, asExitCode, asObject, asString } from "../shared/payload/json.ts";
import { type Marks, recogniseByMarks } from "../shared/payload/marks.ts";
import { eventOf, type PayloadEvent, sessionOf } from "../shared/payload/payload-event.ts";
import { isKilled, mcpServerOf, SHELL_TOOL, toolName } from "./names.ts";

export const SOURCE = "vibe";

/** Certain by the event's name, or by the folder of the session. */
export const recognises = (payload: unknown, intake: IntakeFacts): Recognition =>
  recogniseByMarks(MARKS, payload, intake);

/** One payload → its event; none for unknown ones. */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = asObject(payload);
  const native = asString(p?.["hook_event_name"]) ?? asString(intake.event);
  if (p === undefined || native === undefined) return [];
  const parsed = eventFrom(native, p);
  if (parsed === undefined) return [];
  const cwd = asString(p["cwd"]);
  const session = sessionOf(SOURCE, intake, { payload: p["session_id"], cwd });
  const parentId = asString(p["parent_session_id"]);
  // Payloads have no time, so only the arrival distinguishes the ends of two turns
  const { once = arrivalKey(intake), extras, ...event } = parsed;
  const isSubagent = parentId !== undefined && parentId !== session.id;
  return [
    eventOf(
      {
        ...event,
        source: SOURCE,
        native,
        session,
        cwd,
        key: once,
        extras: isSubagent ? { ...extras, agent_id: session.id, parent_session_id: parentId } : (extras ?? {}),
      },
      intake,
    ),
  ];
}

// --- internal ---

const MARKS: Marks = {
  folder: /[/\\]\.vibe[/\\]logs[/\\]session[/\\]/,
  isOwn: (p) => EVENTS.has(asString(p["hook_event_name"]) ?? "") && p["parent_session_id"] !== undefined,
};

const EVENTS: ReadonlySet<string> = new Set(["pre_tool", "post_tool", "post_agent"]);

type Payload = Readonly<Record<string, unknown>>;
type NativeEvent = Omit<PayloadEvent, "source" | "native" | "session" | "key"> & {
  /** Identifies the event in its session. @default the time of its arrival */
  readonly once?: string;
};

function eventFrom(native: string, p: Payload): NativeEvent | undefined {
  switch (native) {
    case "pre_tool":
      return { type: "tool.start", ...callOf(p), extras: toolExtras(p) };
    case "post_tool":
      return toolEnd(p);
    case "post_agent":
      return { type: "turn.end" };
    default:
      return undefined;
  }
}

function callOf(p: Payload) {
  const callId = asString(p["tool_call_id"]);
  const name = asString(p["tool_name"]);
  return {
    tool: { name: name === undefined ? undefined : toolName(name), callId },
    // Some providers count calls, and use an id again
    ...(callId !== undefined && !isSequenceNumber(callId) && { once: callId }),
  };
}

function toolExtras(p: Payload): Extras {
  const name = toolName(asString(p["tool_name"]) ?? "");
  const callId = asString(p["tool_call_id"]);
  return defined<Extras>({
    executable: name === SHELL_TOOL ? executableOf(asObject(p["tool_input"])?.["command"]) : undefined,
    mcp_server: mcpServerOf(name),
    given_id: callId !== undefined && isSequenceNumber(callId) ? callId : undefined,
  });
}

/** A command that exits with an error code is a success; the code is in its output. */
function toolEnd(p: Payload): NativeEvent {
  const { tool, ...call } = callOf(p);
  // Whole milliseconds are reported, so 0 is unknown
  const durationMs = asCount(p["duration_ms"]) || undefined;
  // The process before this one was killed in the call, which did not end
  if (durationMs === undefined && isKilled(tool.name, p["tool_output"]))
    return { type: "notice", extras: { trigger: "killed" } };
  const status = p["tool_status"];
  const isError = status === "failure" || status === "cancelled";
  return {
    type: "tool.end",
    ...call,
    tool: {
      ...tool,
      status: status === "success" ? "success" : isError ? "error" : undefined,
      durationMs,
    },
    extras: defined<Extras>({
      ...toolExtras(p),
      status_origin: "native",
      exit_code: tool.name === SHELL_TOOL ? asExitCode(asObject(p["tool_output"])?.["returncode"]) : undefined,
      error_type: status === "cancelled" ? "interrupted" : undefined,
    }),
  };
}
