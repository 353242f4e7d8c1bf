import type { Envelope } from "#core/model/envelope.ts";
import { ENVELOPE_TYPES, type EnvelopeText } from "#core/model/envelope-types.ts";
import { isEnvelope, timeMsOf } from "#core/rules/event.ts";
import type { Database } from "#store/database.ts";
import { eventsOf } from "#store/facts.ts";
import type { StoredSession } from "#store/sessions.ts";
import { toEnvelope } from "./envelope-text.ts";

/** A session's OpenHook envelopes as JSON lines, by time, with everything that is stored of them. */
export function* envelopeLines(db: Database, stored: StoredSession, text: EnvelopeText): Generator<string> {
  const rank = (envelope: Envelope): number => ENVELOPE_TYPES.indexOf(envelope.type);
  const envelopes = eventsOf(db, stored.id).filter(isEnvelope);
  for (const envelope of envelopes.sort((a, b) => timeMsOf(a) - timeMsOf(b) || rank(a) - rank(b))) {
    const written = toEnvelope(envelope, { text, level: "full" });
    if (written !== undefined) yield JSON.stringify(written);
  }
}
