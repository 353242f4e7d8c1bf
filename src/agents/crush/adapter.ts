// https://github.com/charmbracelet/crush docs/hooks/README.md, read 2026-11-21

import type { IntakeFacts, Recognition } from "../../model/agent.ts";
import type { Event } from "../../model/event.ts";
import { CLAUDE_EVENTS, claudeLikeEvents } from "../shared/payload/claude-like.ts";
import { asObject, asString } from "../shared/payload/json.ts";

export const SOURCE = "crush";
/** Older builds have only PreToolUse, so their calls have no end. */
export const EVENTS = { ...CLAUDE_EVENTS, TurnStart: "prompt.submit", TurnEnd: "turn.end" } as const;

/**
 * Likely by `event` and `cwd`; certain with Crush's variable for hooks. Another agent that inherits the variable sends other
 * shapes.
 */
export function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const p = asObject(payload);
  if (p === undefined || asString(p["event"]) === undefined || p["hook_event_name"] !== undefined) return "no";
  if (p["matcher_context"] !== undefined || p["working_dir"] !== undefined) return "no";
  if (asString(p["cwd"]) === undefined) return "no";
  const { CRUSH, CRUSH_SESSION_ID } = intake.env;
  const isOwn = CRUSH === "1" || (CRUSH_SESSION_ID !== undefined && CRUSH_SESSION_ID === p["session_id"]);
  return isOwn ? "certain" : "possible";
}

export const toEvents = (payload: unknown, intake: IntakeFacts): readonly Event[] =>
  claudeLikeEvents({ source: SOURCE, events: EVENTS, sessionVariable: "CRUSH_SESSION_ID" }, payload, intake);
