import { ENDED_IDLE, NOTHING_SETTLED, type Session, type SessionFacts } from "../model/session.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import { buildSession } from "../session/build.ts";
import type { Database } from "../store/database.ts";
import type { openFacts } from "../store/facts.ts";
import { unsettledContext } from "./unsettled-context.ts";

/** Builds all of a packed session from its entries. */
export function buildPacked(
  facts: SessionFacts,
  entries: readonly TranscriptEntry[],
  expectsTranscript: boolean,
): Session {
  return buildSession({
    facts,
    events: [],
    entries,
    context: NOTHING_SETTLED,
    expectsTranscript,
    endIdle: ENDED_IDLE,
  });
}

/** Builds the part of a session that is not settled. */
export function buildOpen(
  db: Database,
  sessionNumber: number,
  facts: SessionFacts,
  open: ReturnType<typeof openFacts>,
  expectsTranscript: boolean,
): Session {
  return buildSession({ facts, ...open, context: unsettledContext(db, sessionNumber, facts, open), expectsTranscript });
}
