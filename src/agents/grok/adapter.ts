// https://docs.x.ai/build/features/hooks and public tests, read 2026-11-21

import type { IntakeFacts, Recognition } from "../../model/agent.ts";
import type { Event } from "../../model/event.ts";
import { CLAUDE_EVENTS, claudeLikeEvents, first } from "../shared/payload/claude-like.ts";
import { asObject, asString } from "../shared/payload/json.ts";

export const SOURCE = "grok";
/** It also runs the hooks of `.claude/settings.json` and `.cursor/hooks.json`, the latter under Cursor's names. */
export const EVENTS = { ...CLAUDE_EVENTS, beforeSubmitPrompt: "prompt.submit" } as const;

/**
 * Everything in camel case, including the event's name, with neither Cursor's version nor the time that Copilot always sends. With
 * the command-line flag of Claude Code or Cursor it is certain, because both of those write snake case.
 */
export function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const p = asObject(payload);
  if (p === undefined || asString(p["hookEventName"]) === undefined || asString(p["sessionId"]) === undefined)
    return "no";
  if (["cursor_version", "hook_event_name", "session_id", "timestamp"].some((name) => p[name] !== undefined))
    return "no";
  if (/[/\\]\.grok[/\\]/.test(first(p, ["transcriptPath", "transcript_path"]) ?? "")) return "certain";
  return intake.source === "cursor" || intake.source === "claude-code" ? "certain" : "likely";
}

export const toEvents = (payload: unknown, intake: IntakeFacts): readonly Event[] =>
  claudeLikeEvents({ source: SOURCE, events: EVENTS }, payload, intake);
