import type { Agent } from "#core/model/agent.ts";
import { Envelope } from "#core/model/envelope.ts";
import { ENVELOPE_TYPES, type EnvelopeText } from "#core/model/envelope-types.ts";
import type { Event } from "#core/model/event-schema.ts";
import { isEnvelope, timeMsOf } from "#core/rules/event.ts";
import { assignCallIds } from "#core/session/assign-call-ids.ts";
import { joinProcesses } from "#core/session/processes.ts";
import type { Database } from "#store/database.ts";
import { eventsOf } from "#store/facts.ts";
import type { StoredSession } from "#store/sessions.ts";
import { adapt } from "../payload/adapt.ts";
import { toEnvelope, type WrittenEnvelope } from "./envelope-text.ts";
import type { NativePayload, Unreadable } from "./input.ts";

/** The result of a conversion. */
export interface Conversion {
  /** In the input's order, each id once. */
  readonly envelopes: readonly WrittenEnvelope[];
  /** Events without a type in the text, by type. */
  readonly signals: ReadonlyMap<string, number>;
  /** Duplicate events. */
  readonly duplicates: number;
  /** Payloads without events. */
  readonly withoutEvents: number;
  /** Payloads that could not be converted. */
  readonly problems: readonly Unreadable[];
}

/**
 * Native payloads → OpenHook envelopes, strictly as one of the two texts specifies. Tool calls without an id get one, the same for
 * start and end.
 */
export function convertAll(
  payloads: Iterable<NativePayload | Unreadable>,
  agents: readonly Agent[],
  text: EnvelopeText,
): Conversion {
  const events: Event[] = [];
  const problems: Unreadable[] = [];
  const seen = new Set<string>();
  let duplicates = 0;
  let withoutEvents = 0;
  for (const payload of payloads) {
    const adapted = "reason" in payload ? payload : adapt(agents, payload.value, payload.facts);
    if ("reason" in adapted) {
      problems.push({ line: payload.line, reason: adapted.reason });
      continue;
    }
    if (adapted.events.length === 0) withoutEvents++;
    for (const event of adapted.events) {
      const wrong = isEnvelope(event) ? Envelope.safeParse(event).error?.issues[0] : undefined;
      if (wrong !== undefined) {
        problems.push({ line: payload.line, reason: `${wrong.path.join(".")}: ${wrong.message}` });
      } else if (seen.has(event.id)) duplicates++;
      else events.push(event);
      seen.add(event.id);
    }
  }
  const signals = new Map<string, number>();
  const envelopes = assignCallIds(joinProcesses(events)).flatMap((event) => {
    const written = isEnvelope(event) ? toEnvelope(Envelope.parse(event), { text, level: "full" }) : undefined;
    if (written !== undefined) return [written];
    signals.set(event.type, (signals.get(event.type) ?? 0) + 1);
    return [];
  });
  return { envelopes, signals, duplicates, withoutEvents, problems };
}

// --- internal ---

/** A session's OpenHook envelopes as JSON lines, by time, with everything that is stored of them. */
export function* envelopeLines(db: Database, stored: StoredSession, text: EnvelopeText): Generator<string> {
  const rank = (envelope: Envelope): number => ENVELOPE_TYPES.indexOf(envelope.type);
  const envelopes = eventsOf(db, stored.id).filter(isEnvelope);
  for (const envelope of envelopes.sort((a, b) => timeMsOf(a) - timeMsOf(b) || rank(a) - rank(b))) {
    const written = toEnvelope(envelope, { text, level: "full" });
    if (written !== undefined) yield JSON.stringify(written);
  }
}
