import { detect } from "../agents/detect.ts";
import type { Agent, IntakeFacts } from "../model/agent.ts";
import type { Event } from "../model/event.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import { messageOf } from "./deps.ts";

/** What one payload tells. */
export interface Told {
  readonly events: readonly Event[];
  /** Of the session that the events are of. */
  readonly entries: readonly TranscriptEntry[];
  /** For the log. */
  readonly remarks: readonly string[];
}

/**
 * One payload → what it tells.
 *
 * @returns the reason where nobody knows it, or it cannot be converted
 * @throws never
 */
export function adapt(agents: readonly Agent[], payload: unknown, facts: IntakeFacts): Told | string {
  const agent = detect(agents, payload, facts);
  if (agent === undefined) return "no agent recognises it";
  try {
    const events = agent.toEvents(payload, facts);
    const entries = events.length === 0 ? [] : (agent.toEntries?.(payload, facts) ?? []);
    // A payload that nobody can store must not stop the ones behind it
    JSON.stringify([events, entries]);
    return { events, entries, remarks: agent.remarks?.(payload) ?? [] };
  } catch (error) {
    return `it cannot be converted: ${messageOf(error)}`;
  }
}
