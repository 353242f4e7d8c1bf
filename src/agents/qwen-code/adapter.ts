// https://github.com/QwenLM/qwen-code docs/users/features/hooks.md, read 2026-11-21

import type { IntakeFacts, Recognition } from "../../model/agent.ts";
import type { Event } from "../../model/event.ts";
import { CLAUDE_EVENTS, claudeLikeEvents, recogniseClaudeLike } from "../shared/payload/claude-like.ts";

export const SOURCE = "qwen-code";
export const EVENTS = CLAUDE_EVENTS;

/** A fork of Gemini CLI with Claude Code's hooks: only its transcripts' folder distinguishes it from both. */
export const recognises = (payload: unknown): Recognition => recogniseClaudeLike(payload, /[/\\]\.qwen[/\\]/);

export const toEvents = (payload: unknown, intake: IntakeFacts): readonly Event[] =>
  claudeLikeEvents({ source: SOURCE, events: EVENTS }, payload, intake);
