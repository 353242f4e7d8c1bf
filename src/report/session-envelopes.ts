import type { Envelope } from "../model/envelope.ts";
import { ENVELOPE_TYPES } from "../model/envelope-types.ts";
import { isEnvelope, timeMsOf } from "../model/event.ts";
import type { Database } from "../store/database.ts";
import { eventsOf } from "../store/facts.ts";
import type { StoredSession } from "../store/sessions.ts";

/** A session's OpenHook envelopes as JSON lines, by time. */
export function* envelopeLines(db: Database, stored: StoredSession): Generator<string> {
  const rank = (envelope: Envelope): number => ENVELOPE_TYPES.indexOf(envelope.type);
  const envelopes = eventsOf(db, stored.id).filter(isEnvelope);
  for (const envelope of envelopes.sort((a, b) => timeMsOf(a) - timeMsOf(b) || rank(a) - rank(b))) {
    yield JSON.stringify(envelope);
  }
}
