import { detect } from "../agents/detect.ts";
import { limitEntries, limitEvents } from "../capture/limit-fields.ts";
import type { Agent, IntakeFacts } from "../model/agent.ts";
import type { Content } from "../model/content.ts";
import { messageOf } from "../model/error-message.ts";
import { Event } from "../model/event-schema.ts";
import { TranscriptEntry } from "../model/transcript.ts";
import { type UnknownNames, unknownNamesIn } from "./drift.ts";

/** What one payload tells. */
export interface AdaptedPayload {
  readonly events: readonly Event[];
  /** Of the session that the events are of. */
  readonly entries: readonly TranscriptEntry[];
  /** Of these events and entries; empty where it is not wanted. */
  readonly content: readonly Content[];
  /** For the log. */
  readonly remarks: readonly string[];
  /** Of the card that read it. */
  readonly source: string;
  /** What the card does not know of it. */
  readonly unknown: UnknownNames;
}

/**
 * One payload → what it tells, within bounds.
 *
 * @param wanted whether what was written is wanted too
 * @returns the reason where nobody knows it, or it cannot be converted or stored
 * @throws never
 */
export function adapt(
  agents: readonly Agent[],
  payload: unknown,
  facts: IntakeFacts,
  wanted: { readonly content: boolean } = { content: false },
): AdaptedPayload | string {
  try {
    const agent = detect(agents, payload, facts);
    if (agent === undefined) return "no agent recognises it";
    const events = limitEvents(agent.toEvents(payload, facts), facts.timeMs);
    const entries = events.length === 0 ? [] : limitEntries(agent.toEntries?.(payload, facts) ?? []);
    // A payload that nobody can store must not stop the ones behind it
    const fault = invalidMember(events, entries);
    if (fault !== undefined) return `it cannot be stored: ${fault}`;
    const unknown = unknownNamesIn(agent, payload, facts);
    const content = wanted.content ? (agent.toContent?.(payload, { events, entries }) ?? []) : [];
    return { events, entries, content, remarks: agent.remarks?.(payload) ?? [], source: agent.source, unknown };
  } catch (error) {
    return `it cannot be converted: ${messageOf(error)}`;
  }
}

// --- internal ---

/** The member that is not what the store takes; never its value. */
function invalidMember(events: readonly Event[], entries: readonly TranscriptEntry[]): string | undefined {
  for (const [schema, values] of [[Event, events] as const, [TranscriptEntry, entries] as const]) {
    for (const value of values) {
      const parsed = schema.safeParse(value);
      if (!parsed.success) return `${placeIn(parsed.error.issues)} is not what it should be`;
    }
  }
  return undefined;
}

interface Issue {
  readonly path: readonly PropertyKey[];
  /** Of a union: those of each of its members. */
  readonly errors?: readonly (readonly Issue[])[];
}

/** Of a union the deepest place: the member that fits best fails last. */
function placeIn(issues: readonly Issue[]): string {
  const places = issues.flatMap((issue) => [issue.path, ...(issue.errors ?? []).flat().map(({ path }) => path)]);
  const deepest = places.reduce((a, b) => (b.length > a.length ? b : a), []);
  return deepest.length === 0 ? "what it tells" : deepest.map(String).join(".");
}
