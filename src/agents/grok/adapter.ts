// https://docs.x.ai/build/features/hooks and public tests, read 2026-11-21

import type { IntakeFacts, Recognition } from "../../model/agent.ts";
import type { Event } from "../../model/event.ts";
import { CLAUDE_EVENTS, claudeLikeEvents } from "../shared/payload/claude-like.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { type Marks, recogniseByMarks } from "../shared/payload/marks.ts";

export const SOURCE = "grok";
/** Grok also runs the hooks of `.claude/settings.json` and `.cursor/hooks.json`, the latter under Cursor's event names. */
export const EVENTS = { ...CLAUDE_EVENTS, beforeSubmitPrompt: "prompt.submit" } as const;

/**
 * Certain: the program sends the event's name in both spellings. The documentation has camel case only: no other agent that runs
 * Claude Code's or Cursor's hooks writes it without a time.
 */
export function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const recognition = recogniseByMarks(MARKS, payload, intake);
  const p = asObject(payload);
  if (recognition === "certain" || p === undefined) return recognition;
  if (asString(p["hookEventName"]) === undefined || asString(p["sessionId"]) === undefined) return recognition;
  if (p["timestamp"] !== undefined) return "possible";
  return intake.source === "cursor" || intake.source === "claude-code" ? "certain" : "likely";
}

const MARKS: Marks = { members: [["hookEventName", "hook_event_name"]], folder: /[/\\]\.grok[/\\]/ };

export const toEvents = (payload: unknown, intake: IntakeFacts): readonly Event[] =>
  claudeLikeEvents({ source: SOURCE, events: EVENTS }, payload, intake);
