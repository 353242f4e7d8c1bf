// https://github.com/charmbracelet/crush docs/hooks/README.md, read 2026-11-21; payloads recorded with 0.90.0, 2026-11-25

import { isAbsolute, join } from "node:path";
import type { Recognition } from "#core/model/agent.ts";
import type { Event } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { CLAUDE_EVENTS, type ClaudeLike, claudeLikeEvents } from "../shared/payload/claude-like.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { type Marks, recogniseByMarks } from "../shared/payload/marks.ts";
import { DATA_FOLDER, DATABASE } from "./places.ts";

export const SOURCE = "crush";
/** Older builds have only PreToolUse, so their calls have no end. */
export const EVENTS = { ...CLAUDE_EVENTS, TurnStart: "prompt.submit", TurnEnd: "turn.end" } as const;

/**
 * Likely by `event` and `cwd`; certain with Crush's variable for hooks. Another agent that inherits the variable sends other
 * shapes.
 */
export function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const p = asObject(payload);
  if (asString(p?.["event"]) === undefined) return "no";
  const recognition = recogniseByMarks(MARKS, payload, intake);
  return recognition === "certain" || asString(p?.["cwd"]) !== undefined ? recognition : "no";
}

export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const project = asString(intake.env["CRUSH_PROJECT_DIR"]);
  const path = project === undefined || !isAbsolute(project) ? undefined : join(project, DATA_FOLDER, DATABASE);
  return claudeLikeEvents(LIKE, payload, intake).map((event) => ({
    ...event,
    extensions: {
      ...(path !== undefined && { transcript_path: path }),
      ...(event.type === "tool.start" && event.data?.tool_call_id === undefined && { in_transcript: true as const }),
      ...event.extensions,
    },
  }));
}

// --- internal ---

const MARKS: Marks = {
  sessionVariable: "CRUSH_SESSION_ID",
  // Goose sends the same names
  isOwn: (p, { env }) =>
    env["CRUSH"] === "1" &&
    asString(p["cwd"]) !== undefined &&
    ["hook_event_name", "matcher_context", "working_dir"].every((name) => p[name] === undefined),
};

const LIKE: ClaudeLike = {
  source: SOURCE,
  events: EVENTS,
  sessionVariable: "CRUSH_SESSION_ID",
  // A payload has neither a call id nor a time. Equal calls run one after the other, so equal payloads at one moment report the
  // same call, for two registrations of the hook
  keyOf: (payload, { timeMs }) => `${timeMs}:${payloadDigest(payload)}`,
};
