import type { Session, SessionFacts } from "../model/session.ts";
import { buildSession } from "../session/build.ts";
import { buildPacked } from "../session/build-packed.ts";
import type { Database } from "../store/database.ts";
import type { openFacts } from "../store/facts.ts";
import { unsettledContext } from "./unsettled-context.ts";

/** `buildPacked`, loaded when it is first called. */
export function buildWhole(...given: Parameters<typeof buildPacked>): Session {
  return buildPacked(...given);
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
