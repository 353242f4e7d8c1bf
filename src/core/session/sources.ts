import type { Event } from "../model/event-schema.ts";
import type { SessionContext, SessionFacts } from "../model/session.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import { pairTools } from "./pair.ts";
import { joinPrompts } from "./prompts.ts";

/** The facts that report the same prompt or the same tool call: event ids and entry keys. */
interface Sources {
  /** By turn key. */
  readonly prompts: ReadonlyMap<string, readonly string[]>;
  /** By call id. */
  readonly toolCalls: ReadonlyMap<string, readonly string[]>;
  /** Ids of all events; the other facts come from the transcript. */
  readonly hooks: ReadonlySet<string>;
}

/** Repeats the pairing that builds the session and returns what was paired. Pure. */
export function sourcesOf(
  events: readonly Event[],
  entries: readonly TranscriptEntry[],
  context: SessionContext,
  hooksNameAgents?: SessionFacts["hooksNameAgents"],
): Sources {
  const once = [...new Map(events.map((event) => [event.id, event])).values()];
  return {
    prompts: new Map(joinPrompts(once, entries, context).map(({ key, uses }) => [key, uses])),
    toolCalls: new Map(
      pairTools(once, entries, context.calls, hooksNameAgents, context.processStarts).map(({ callId, uses }) => [
        callId,
        uses,
      ]),
    ),
    hooks: new Set(once.map(({ id }) => id)),
  };
}
