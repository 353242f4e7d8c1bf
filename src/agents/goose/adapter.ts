// https://github.com/block/goose documentation/docs/guides/context-engineering/hooks.md, read 2026-11-21

import type { IntakeFacts, Recognition } from "../../model/agent.ts";
import type { Event } from "../../model/event.ts";
import { CLAUDE_EVENTS, claudeLikeEvents } from "../shared/payload/claude-like.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { type Marks, recogniseByMarks } from "../shared/payload/marks.ts";

export const SOURCE = "goose";
/** BeforeReadFile, AfterFileEdit and the shell events duplicate tool calls that the tool events report. */
export const EVENTS = { ...CLAUDE_EVENTS, PreToolUseResult: "tool.end" } as const;

/** `event` instead of Claude Code's `hook_event_name`, with members that only Goose has. */
export const recognises = (payload: unknown, intake: IntakeFacts): Recognition =>
  asString(asObject(payload)?.["event"]) === undefined ? "no" : recogniseByMarks(MARKS, payload, intake);

const MARKS: Marks = { members: ["matcher_context", "working_dir"] };

export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = asObject(payload);
  // PreToolUseResult is the only end of a refused call; an allowed call has another end
  const isRefusal = p?.["event"] === "PreToolUseResult";
  if (isRefusal && p["decision"] !== "deny") return [];
  return claudeLikeEvents({ source: SOURCE, events: EVENTS }, payload, intake).map((event) =>
    isRefusal && event.type === "tool.end"
      ? {
          ...event,
          data: { ...event.data, status: "error" },
          extensions: { ...event.extensions, denied: true, status_origin: "native" },
        }
      : event,
  );
}
