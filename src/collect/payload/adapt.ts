import { detect } from "#agents/detect.ts";
import type { Agent } from "#core/model/agent.ts";
import type { Content } from "#core/model/content.ts";
import type { Event } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { messageOf } from "#kit/errors.ts";
import { limitEntries, limitEvents } from "#store/capture/limit-fields.ts";
import { changesInPayload } from "./change-facts.ts";
import { notNeededEvent, type UnknownNames, unknownNamesIn } from "./drift.ts";
import { fileWriteEvents } from "./file-writes.ts";
import { invalidMember } from "./valid-facts.lazy.ts";

/** The result of one payload. Nothing vanishes: it has events, or the card names it as not needed, or it is quarantined. */
type Adapted = ConvertedPayload | UnneededPayload | RefusedPayload;

/** A payload that is stored or counted. */
export type AdaptedPayload = ConvertedPayload | UnneededPayload;

interface ConvertedPayload extends PayloadParts {
  readonly outcome: "converted";
  /** At least one. */
  readonly events: readonly Event[];
}

/** A payload of an event that the card knows and does not need. */
interface UnneededPayload extends PayloadParts {
  readonly outcome: "ignored";
  readonly events: readonly never[];
  /** The card's name of the event. */
  readonly event: string;
}

/** A payload that is quarantined. */
export interface RefusedPayload {
  readonly outcome: "refused";
  readonly reason: string;
  /** Of the card that recognised it. Absent: no card did. */
  readonly source?: string;
  /** Names in it that this card does not know. */
  readonly unknown: UnknownNames;
}

interface PayloadParts {
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
 * @throws never
 */
export function adapt(
  agents: readonly Agent[],
  payload: unknown,
  facts: IntakeFacts,
  wanted: { readonly content: boolean } = { content: false },
): Adapted {
  try {
    const agent = detect(agents, payload, facts);
    if (agent === undefined) return refused("no agent recognises it");
    const unknown = unknownNamesIn(agent, payload, facts);
    const of = { source: agent.source, unknown };
    const made = agent.toEvents(payload, facts);
    const remarks = agent.remarks?.(payload) ?? [];
    if (made.length === 0) {
      const event = notNeededEvent(agent, payload, facts);
      if (event !== undefined)
        return { outcome: "ignored", events: [], event, entries: [], content: [], remarks, ...of };
      return refused(reasonWithoutEvents(agent, unknown), of);
    }
    const given = agent.toEntries?.(payload, facts) ?? [];
    const changes = changesInPayload(agent, payload, { events: made, entries: given });
    const entries = limitEntries([...given, ...changes.entries]);
    const written = fileWriteEvents(agent, payload, { events: made, entries });
    const events = limitEvents([...changes.events, ...written], facts.timeMs);
    // A payload that cannot be stored must not block the next ones
    const fault = invalidMember(events, entries);
    if (fault !== undefined) return refused(`it cannot be stored: ${fault}`, of);
    const content = wanted.content ? (agent.toContent?.(payload, { events, entries }) ?? []) : [];
    return { outcome: "converted", events, entries, content, remarks, ...of };
  } catch (error) {
    return refused(`it cannot be converted: ${messageOf(error)}`);
  }
}

/** The result for a payload that is quarantined. */
export const refused = (
  reason: string,
  of: Partial<Pick<RefusedPayload, "source" | "unknown">> = {},
): RefusedPayload => ({
  outcome: "refused",
  reason,
  unknown: new Map(),
  ...of,
});

// --- internal ---

const reasonWithoutEvents = ({ title }: Agent, unknown: UnknownNames): string =>
  [...unknown.values()].some(({ kind }) => kind === "event")
    ? `its event is unknown for ${title}`
    : `it cannot be converted: ${title}'s event is incomplete`;
