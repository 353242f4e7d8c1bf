// https://docs.x.ai/build/features/hooks and public tests, read 2026-11-21

import type { IntakeFacts, Recognition } from "../../model/agent.ts";
import type { Event } from "../../model/event.ts";
import { CLAUDE_EVENTS, claudeLikeEvents, first } from "../shared/payload/claude-like.ts";
import { asObject, asString } from "../shared/payload/json.ts";

export const SOURCE = "grok";
/** Grok also runs the hooks of `.claude/settings.json` and `.cursor/hooks.json`, the latter under Cursor's event names. */
export const EVENTS = { ...CLAUDE_EVENTS, beforeSubmitPrompt: "prompt.submit" } as const;

/**
 * All names are in camel case, including the event's, without Cursor's version and without the time that Copilot always sends. It
 * is certain if the command line names Claude Code or Cursor, because both write snake case.
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
