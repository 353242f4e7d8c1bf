// openhands/sdk/hooks of openhands-sdk 1.21.0 and recordings of OpenHands CLI 1.16.0, read 2026-11-26

import type { PayloadFacts, Recognition } from "#core/model/agent.ts";
import type { Content } from "#core/model/content.ts";
import type { Event, Extras, NativeEventType } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { defined } from "#kit/defined.ts";
import { executableOf } from "../shared/names/executables.ts";
import { typeOf } from "../shared/payload/claude-like.ts";
import { contentOfEvents } from "../shared/payload/content.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asCode, asObject, asString } from "../shared/payload/json.ts";
import { type Marks, recogniseByMarks } from "../shared/payload/marks.ts";
import { eventOf, sessionOf } from "../shared/payload/payload-event.ts";
import { actionDigest, isCorrection } from "./inputs.ts";
import { outcomeIn } from "./outcome.ts";

export const SOURCE = "openhands";

export const EVENTS = {
  SessionStart: "session.start",
  SessionEnd: "session.end",
  UserPromptSubmit: "prompt.submit",
  PreToolUse: "tool.start",
  PostToolUse: "tool.end",
  Stop: "turn.end",
} as const satisfies Readonly<Record<string, NativeEventType>>;

/** Certain by three members that every payload has and no other agent sends together. */
export const recognises = (payload: unknown, intake: IntakeFacts): Recognition =>
  recogniseByMarks(MARKS, payload, intake);

const MARKS: Marks = { members: [["event_type", "working_dir", "metadata"]] };

/** One payload → its event. */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = asObject(payload);
  const native = p === undefined ? undefined : (asString(p["event_type"]) ?? intake.event);
  const type = native === undefined ? undefined : typeOf(EVENTS, native);
  if (p === undefined || native === undefined || type === undefined) return [];
  const cwd = asString(p["working_dir"]);
  const prompt = type === "prompt.submit" ? asString(p["message"]) : undefined;
  const isTool = type === "tool.start" || type === "tool.end";
  const outcome = type === "tool.end" ? outcomeIn(p["tool_response"]) : undefined;
  return [
    eventOf(
      {
        source: SOURCE,
        type,
        native,
        session: sessionOf(SOURCE, intake, { payload: p["session_id"], cwd }),
        cwd,
        // No payload has a time or a call's id, and a session can send equal ones
        key: `${intake.timeMs}:${payloadDigest(payload)}`,
        promptLength: prompt?.length,
        reason: "completed",
        ...(isTool && { tool: { name: asString(p["tool_name"]), status: outcome?.status } }),
        extras: defined<Extras>({
          prompt_origin: isCorrection(prompt) ? "machine" : undefined,
          ...(isTool && {
            input_digest: actionDigest(p["tool_input"]),
            executable: executableOf(asObject(p["tool_input"])?.["command"]),
          }),
          // The event file is written as soon as the hooks have run
          in_transcript: type === "tool.start" ? true : undefined,
          exit_code: outcome?.exitCode,
          status_origin: outcome === undefined ? undefined : "native",
          // The ends of parallel calls are reported together, after the last of them
          reported_late: type === "tool.end" ? true : undefined,
          native_reason: type === "turn.end" ? asCode(asObject(p["metadata"])?.["reason"]) : undefined,
        }),
      },
      intake,
    ),
  ];
}

/** Prompts, inputs and results. */
export function toContent(payload: unknown, { events }: PayloadFacts): readonly Content[] {
  const p = asObject(payload);
  if (p === undefined) return [];
  return contentOfEvents(events, {
    prompt: p["message"],
    arguments: p["tool_input"],
    result: p["tool_response"],
  });
}

// --- internal ---
