import { detect } from "../agents/detect.ts";
import { limitEntries, limitEvents } from "../capture/limit-fields.ts";
import type { Agent, IntakeFacts } from "../model/agent.ts";
import type { Content } from "../model/content.ts";
import { messageOf } from "../model/error-message.ts";
import { Event } from "../model/event-schema.ts";
import { TranscriptEntry } from "../model/transcript.ts";
import { type UnknownNames, unknownNamesIn } from "./drift.ts";
import { fileWriteEvents } from "./file-writes.ts";

/** The result of one payload. */
export interface AdaptedPayload {
  readonly events: readonly Event[];
  /** Of the same session as the events. */
  readonly entries: readonly TranscriptEntry[];
  /** Of these events and entries; empty unless requested. */
  readonly content: readonly Content[];
  /** For the log, one line each; no content. */
  readonly remarks: readonly string[];
  /** Source of the card that recognised it. */
  readonly source: string;
  /** Names in it that the card does not know. */
  readonly unknown: UnknownNames;
}

/**
 * Native payload → events, entries and content, within limits.
 *
 * @param wanted.content whether to return content
 * @returns a text with the reason if no agent recognises it, or it cannot be converted or stored
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
    const made = agent.toEvents(payload, facts);
    const entries = made.length === 0 ? [] : limitEntries(agent.toEntries?.(payload, facts) ?? []);
    const written = fileWriteEvents(agent, payload, { events: made, entries });
    const events = limitEvents([...made, ...written], facts.timeMs);
    // A payload that cannot be stored must not block the next ones
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

/** The member that the store would not accept, never its value; `undefined`: all are valid. */
function invalidMember(events: readonly Event[], entries: readonly TranscriptEntry[]): string | undefined {
  for (const [schema, values] of [[Event, events] as const, [TranscriptEntry, entries] as const]) {
    for (const value of values) {
      const parsed = schema.safeParse(value);
      if (!parsed.success) return `${pathIn(parsed.error.issues)} is not valid`;
    }
  }
  return undefined;
}

interface Issue {
  readonly path: readonly PropertyKey[];
  /** The issues of each member of a union. */
  readonly errors?: readonly (readonly Issue[])[];
}

/** The deepest path: in a union, the member that fits best fails deepest. */
function pathIn(issues: readonly Issue[]): string {
  const paths = issues.flatMap((issue) => [issue.path, ...(issue.errors ?? []).flat().map(({ path }) => path)]);
  const deepest = paths.reduce((a, b) => (b.length > a.length ? b : a), []);
  return deepest.length === 0 ? "its result" : deepest.map(String).join(".");
}
