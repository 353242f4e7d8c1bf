// https://docs.factory.ai/reference/hooks-reference.md and public fixtures, read 2026-11-21

import type { IntakeFacts, Recognition } from "../../model/agent.ts";
import type { Event } from "../../model/event.ts";
import { CLAUDE_EVENTS, claudeLikeEvents } from "../shared/payload/claude-like.ts";
import { type Marks, recogniseByMarks } from "../shared/payload/marks.ts";

export const SOURCE = "droid";
export const EVENTS = CLAUDE_EVENTS;

/** Certain by the transcripts' folder. In some builds the event is `hookEventName`. */
export const recognises = (payload: unknown, intake: IntakeFacts): Recognition =>
  recogniseByMarks(MARKS, payload, intake);

const MARKS: Marks = { folder: /[/\\]\.factory[/\\]/ };

export const toEvents = (payload: unknown, intake: IntakeFacts): readonly Event[] =>
  claudeLikeEvents({ source: SOURCE, events: EVENTS }, payload, intake);
