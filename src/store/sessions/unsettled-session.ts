import type { Session, SessionFacts } from "#core/model/session.ts";
import { openFacts } from "../facts.ts";
import { packedFacts } from "../packed.ts";
import type { StoredSession } from "../sessions.ts";
import { buildOpen, buildWhole } from "./build-unsettled.lazy.ts";
import { expectsTranscript, type SessionSource, sessionFactsOf } from "./read-session.ts";

/** Builds the unsettled part of a session, or all of a packed session. Writes nothing. */
export function unsettledSession(drain: SessionSource, stored: StoredSession): Session {
  const facts = sessionFactsOf(drain, stored);
  const isExpected = expectsTranscript(drain, stored);
  const packed = packedFacts(drain.db, stored.id);
  if (packed !== undefined) return buildWhole(facts, packed, isExpected);
  const open = openFacts(drain.db, stored.id);
  // Most sessions are over and settled; building them would load 100 kB of code
  if (open.events.length + open.entries.length === 0) return withoutParts(facts);
  return buildOpen(drain.db, stored.id, facts, open, isExpected);
}

// --- internal ---

const withoutParts = (facts: SessionFacts): Session => ({
  facts,
  segments: [],
  turns: [],
  subagents: [],
  finishedParts: [],
  compactions: [],
  unused: [],
  expectedLines: 0,
});
