// https://github.com/block/goose documentation/docs/guides/context-engineering/hooks.md, read 2026-11-21; payloads
// recorded with 1.52.0, 2026-11-25

import type { Recognition } from "#core/model/agent.ts";
import type { Event, NativeEventType } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { CLAUDE_EVENTS, type ClaudeLike, claudeLikeEvents } from "../shared/payload/claude-like.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { type Marks, recogniseByMarks } from "../shared/payload/marks.ts";

export const SOURCE = "goose";
/** BeforeReadFile, AfterFileEdit and the shell events duplicate tool calls that the tool events report. */
export const EVENTS = {
  SessionStart: CLAUDE_EVENTS.SessionStart,
  SessionEnd: CLAUDE_EVENTS.SessionEnd,
  UserPromptSubmit: CLAUDE_EVENTS.UserPromptSubmit,
  PreToolUse: CLAUDE_EVENTS.PreToolUse,
  PostToolUse: CLAUDE_EVENTS.PostToolUse,
  PostToolUseFailure: CLAUDE_EVENTS.PostToolUseFailure,
  PreToolUseResult: "tool.end",
  Stop: CLAUDE_EVENTS.Stop,
} as const;

/** `event` instead of Claude Code's `hook_event_name`, with members that only Goose has. */
export const recognises = (payload: unknown, intake: IntakeFacts): Recognition =>
  asString(asObject(payload)?.["event"]) === undefined ? "no" : recogniseByMarks(MARKS, payload, intake);

export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = asObject(payload);
  const native = asString(p?.["event"]);
  // PreToolUseResult is the only end of a refused call; an allowed call has another end
  const isRefusal = native === "PreToolUseResult";
  if (isRefusal && p?.["decision"] !== "deny") return [];
  return claudeLikeEvents({ source: SOURCE, events: { ...EVENTS, ...typesIn(p) }, keyOf }, payload, intake).map(
    (event) =>
      isRefusal && event.type === "tool.end"
        ? {
            ...event,
            data: { ...event.data, status: "error" },
            extensions: { ...event.extensions, denied: true, status_origin: "native" },
          }
        : event,
  );
}

// --- internal ---

const MARKS: Marks = { members: ["matcher_context", "working_dir"] };

/** The types of events that depend on other members of the payload. */
function typesIn(p: Readonly<Record<string, unknown>> | undefined): Readonly<Record<string, NativeEventType>> {
  return {
    // A turn that ended with an error of the provider has no answer
    ...(asString(p?.["last_assistant_message"]) === undefined && { Stop: "turn.error" }),
    // Commands for Goose itself; the model is not asked to answer them, and no Stop follows
    ...(OWN_COMMAND.test(asString(p?.["message"]) ?? "") && { UserPromptSubmit: "notice" }),
    ...(COMPACT.test(asString(p?.["message"]) ?? "") && { UserPromptSubmit: "compaction" }),
  };
}

// crates/goose/src/agents/execute_commands.rs, read 2026-11-27; `/goal` with a text starts a turn
const COMPACT = /^\s*(?:\/(?:compact|summarize)\b|Please compact this conversation\s*$)/;
const OWN_COMMAND = /^\s*\/(?:(?:prompts|skills|doctor)(?: |\s*$)|(?:goal|grind)(?: +(?:off|clear|none))?\s*$)/;

/** A payload has no time. Equal ones at one moment come from two registrations of the hook. */
const keyOf: NonNullable<ClaudeLike["keyOf"]> = (payload, { timeMs }) => `${timeMs}:${payloadDigest(payload)}`;
