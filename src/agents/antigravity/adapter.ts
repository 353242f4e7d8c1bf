// https://antigravity.google/docs/hooks as quoted by public projects, and their tests, read 2026-11-21

import type { Recognition } from "#core/model/agent.ts";
import type { Event, Extras, NativeEventType } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { defined } from "#kit/defined.ts";
import { executableOf } from "../shared/names/executables.ts";
import { absolutePath, first, typeOf } from "../shared/payload/claude-like.ts";
import { arrivalKey } from "../shared/payload/derived-ids.ts";
import { asArray, asCount, asObject, asString } from "../shared/payload/json.ts";
import { outcomeOf } from "../shared/payload/outcome.ts";
import { eventOf } from "../shared/payload/payload-event.ts";

export const SOURCE = "antigravity";
/** PreInvocation precedes every model call; it is not the start of a session. */
export const EVENTS = {
  PreInvocation: "model.start",
  PostInvocation: "model.end",
  PreToolUse: "tool.start",
  PostToolUse: "tool.end",
  Stop: "turn.end",
} as const satisfies Readonly<Record<string, NativeEventType>>;

/** Payloads do not name their event; `--event` does. */
export function recognises(payload: unknown): Recognition {
  const p = asObject(payload);
  if (p === undefined || asString(p["conversationId"]) === undefined) return "no";
  if (asObject(p["toolCall"]) !== undefined) return "certain";
  if (p["hook_event_name"] !== undefined) return "possible";
  return MARKS.some((name) => p[name] !== undefined) ? "likely" : "possible";
}

/** A tool call without an event name may be the start or the end of the call; it is reported as its end. */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = asObject(payload);
  const sessionId = asString(p?.["conversationId"]);
  if (p === undefined || sessionId === undefined) return [];
  const call = asObject(p["toolCall"]);
  const native = first(p, ["hookEventName"]) ?? intake.event;
  const type = native === undefined ? undefined : typeOf(EVENTS, native);
  if (type === undefined && (call === undefined || native !== undefined)) return [];
  const isTool = call !== undefined || type === "tool.start" || type === "tool.end";
  const step = asCount(p["stepIdx"]);
  const callId = isTool && step !== undefined ? `step-${step}` : undefined;
  const args = asObject(call?.["args"]);
  const ended = type === "tool.end" ? outcomeOf(p["toolResult"] ?? p["result"] ?? p) : undefined;
  return [
    eventOf(
      {
        source: SOURCE,
        type: type ?? "tool.end",
        native: native ?? "toolCall",
        session: { id: sessionId },
        cwd: asString(asArray(p["workspacePaths"])[0]),
        key: callId ?? arrivalKey(intake),
        tool: { name: asString(call?.["name"]), callId, status: ended?.status },
        extras: defined<Extras>({
          transcript_path: absolutePath(p["transcriptPath"], intake),
          executable: executableOf(args?.["CommandLine"]),
          exit_code: ended?.exitCode,
          status_origin: ended?.origin,
        }),
      },
      intake,
    ),
  ];
}

// --- internal ---

const MARKS = ["invocationNum", "fullyIdle", "workspacePaths", "artifactDirectoryPath", "stepIdx"];
