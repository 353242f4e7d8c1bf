import { instanceId, isCopy, leaveToOriginal } from "../store/instance.ts";
import { sessionById, unsettledSessions } from "../store/sessions.ts";
import { compactionCounts, runCounts, segmentCounts } from "../telemetry/metrics.ts";
import type { Drain } from "./deps.ts";
import { factsOf, openPart } from "./derive.ts";

/**
 * Makes the copy of a store one of its own, before anything is counted in it: a new instance id, counters from zero. What
 * had been told and not counted when it was copied is counted by the original; as spans both tell it, with the same ids.
 * Does nothing to a store that is no copy.
 */
export function disownCopied(drain: Drain): void {
  const { db, places } = drain;
  if (!isCopy(db, places)) return;
  db.transaction(() => {
    for (const session of unsettledSessions(db)) leaveToOriginal(db, countsOf(drain, session));
    instanceId(db, places);
  });
  drain.log("the store is a copy, of another machine or another folder: it has a new service.instance.id now");
}

// --- internal ---

function countsOf(drain: Drain, sessionNumber: number): readonly string[] {
  const stored = sessionById(drain.db, sessionNumber);
  const facts = factsOf(drain, stored);
  const session = openPart(drain, stored);
  return [
    ...[...session.turns, ...session.subagents].flatMap((run) => runCounts(run, facts)),
    ...session.segments.map((segment) => segmentCounts(segment, facts)),
    ...session.compactions.map((compaction) => compactionCounts(compaction, facts)),
  ].map(({ key }) => key);
}
