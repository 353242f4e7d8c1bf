import type { SessionContext, SessionFacts } from "../model/session.ts";
import { withLatePrompts } from "../session/late-prompts.ts";
import type { Database } from "../store/database.ts";
import type { openFacts } from "../store/facts.ts";
import { processesOf } from "../store/session-processes.ts";
import { settledContext } from "../store/settled-context.ts";
import { withPrunedParts } from "./pruned-parts.ts";

/** The settled parts of the session that its unsettled facts may refer to. */
export function unsettledContext(
  db: Database,
  sessionNumber: number,
  facts: SessionFacts,
  { events, entries }: ReturnType<typeof openFacts>,
): SessionContext {
  const settled = withPrunedParts(db, settledContext(db, sessionNumber, events, entries), facts, events, entries);
  const processes = processesOf(db, sessionNumber);
  return { ...withLatePrompts(settled, events, entries), ...(processes.length > 0 && { processes }) };
}
