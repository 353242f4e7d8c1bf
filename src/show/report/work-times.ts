import type { Database } from "#store/database.ts";
import { workTimes } from "#store/session-order.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import { sessionById, unsettledSessions } from "#store/sessions.ts";
import { summarise } from "./session-summary.ts";
import type { CountedSession } from "./usage-sessions.ts";

/** The time in which a turn or subagent ran, by session, subagents' sessions with their roots. Sessions without any are absent. */
export function workOfSessions(
  db: Database,
  deps: Pick<SessionSource, "agents">,
  counted: ReadonlyMap<number, CountedSession>,
): ReadonlyMap<number, number> {
  const work = new Map(workTimes(db));
  for (const number of unsettledSessions(db)) {
    if (counted.get(number)?.root === number) work.set(number, summarise(db, sessionById(db, number), deps).workMs);
  }
  const sums = new Map<number, number>();
  for (const [number, ms] of work) {
    const root = counted.get(number)?.root;
    if (root !== undefined && ms > 0) sums.set(root, (sums.get(root) ?? 0) + ms);
  }
  return sums;
}
