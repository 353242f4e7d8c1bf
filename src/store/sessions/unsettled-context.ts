import type { SessionContext, SessionFacts } from "#core/model/session.ts";
import { withLatePrompts } from "#core/session/late-prompts.ts";
import type { Database } from "../database.ts";
import type { openFacts } from "../facts.ts";
import { processesOf } from "../session-processes.ts";
import { settledContext } from "../settled-context.ts";
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
