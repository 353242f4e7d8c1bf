// https://github.com/QwenLM/qwen-code docs/users/features/hooks.md, read 2026-11-21

import type { IntakeFacts, Recognition } from "../../model/agent.ts";
import type { Event } from "../../model/event.ts";
import { CLAUDE_EVENTS, claudeLikeEvents } from "../shared/payload/claude-like.ts";
import { type Marks, recogniseByMarks } from "../shared/payload/marks.ts";

export const SOURCE = "qwen-code";
export const EVENTS = CLAUDE_EVENTS;

/** A fork of Gemini CLI with Claude Code's hooks: only its transcripts' folder distinguishes it from both. */
export const recognises = (payload: unknown, intake: IntakeFacts): Recognition =>
  recogniseByMarks(MARKS, payload, intake);

const MARKS: Marks = { folder: /[/\\]\.qwen[/\\]/ };

export const toEvents = (payload: unknown, intake: IntakeFacts): readonly Event[] =>
  claudeLikeEvents({ source: SOURCE, events: EVENTS }, payload, intake);
