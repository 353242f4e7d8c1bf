import type { Event } from "../model/event.ts";
import type { SessionContext } from "../model/session.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import { pairTools } from "./pair.ts";
import { joinPrompts } from "./prompts.ts";

/** Which facts tell of the same prompt, and of the same tool call: ids of events and keys of entries. */
export interface Sources {
  /** By the turn's key. */
  readonly prompts: ReadonlyMap<string, readonly string[]>;
  /** By the call's id. */
  readonly toolCalls: ReadonlyMap<string, readonly string[]>;
  /** Ids of all events: the others are the transcript's. */
  readonly hooks: ReadonlySet<string>;
}

/** The same pairing that builds the session, asked for what was paired. Pure. */
export function sourcesOf(
  events: readonly Event[],
  entries: readonly TranscriptEntry[],
  context: SessionContext,
): Sources {
  const once = [...new Map(events.map((event) => [event.id, event])).values()];
  return {
    prompts: new Map(joinPrompts(once, entries, context).map(({ key, uses }) => [key, uses])),
    toolCalls: new Map(pairTools(once, entries, context.calls).map(({ callId, uses }) => [callId, uses])),
    hooks: new Set(once.map(({ id }) => id)),
  };
}
