// https://github.com/charmbracelet/crush docs/hooks/README.md, read 2026-11-21

import type { IntakeFacts, Recognition } from "../../model/agent.ts";
import type { Event } from "../../model/event.ts";
import { CLAUDE_EVENTS, claudeLikeEvents } from "../shared/payload/claude-like.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { type Marks, recogniseByMarks } from "../shared/payload/marks.ts";

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

const MARKS: Marks = {
  sessionVariable: "CRUSH_SESSION_ID",
  // Goose sends the same names
  isOwn: (p, { env }) =>
    env["CRUSH"] === "1" &&
    asString(p["cwd"]) !== undefined &&
    ["hook_event_name", "matcher_context", "working_dir"].every((name) => p[name] === undefined),
};

export const toEvents = (payload: unknown, intake: IntakeFacts): readonly Event[] =>
  claudeLikeEvents({ source: SOURCE, events: EVENTS, sessionVariable: "CRUSH_SESSION_ID" }, payload, intake);
