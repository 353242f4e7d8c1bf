// https://moonshotai.github.io/kimi-code/en/customization/hooks, read 2026-11-21

import type { IntakeFacts, Recognition } from "../../model/agent.ts";
import type { Event } from "../../model/event.ts";
import { CLAUDE_EVENTS, claudeLikeEvents } from "../shared/payload/claude-like.ts";
import { type Marks, recogniseByMarks } from "../shared/payload/marks.ts";

export const SOURCE = "kimi";
export const EVENTS = CLAUDE_EVENTS;

export const recognises = (payload: unknown, intake: IntakeFacts): Recognition =>
  recogniseByMarks(MARKS, payload, intake);

const MARKS: Marks = {
  folder: /[/\\]\.kimi(-code)?[/\\]/,
  isOwn: (p) => p["client_type"] === "kimi_code_cli",
};

export const toEvents = (payload: unknown, intake: IntakeFacts): readonly Event[] =>
  claudeLikeEvents({ source: SOURCE, events: EVENTS }, payload, intake);
