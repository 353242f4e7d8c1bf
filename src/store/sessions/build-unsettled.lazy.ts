import type { Session, SessionFacts } from "#core/model/session.ts";
import { buildPacked, buildSession } from "#core/session/build.ts";
import type { Database } from "../database.ts";
import type { openFacts } from "../facts.ts";
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
