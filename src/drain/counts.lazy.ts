import { sessionFactsOf, unsettledSession } from "../sessions/read-session.ts";
import { sessionById } from "../store/sessions.ts";
import { compactionCounts, runCounts, segmentCounts } from "../telemetry/metrics.ts";
import type { Drain } from "./context.ts";

/** Keys of what an unsettled session has been counted by, or will be. */
export function countsOf(drain: Drain, sessionNumber: number): readonly string[] {
  const stored = sessionById(drain.db, sessionNumber);
  const facts = sessionFactsOf(drain, stored);
  const session = unsettledSession(drain, stored);
  return [
    ...[...session.turns, ...session.subagents].flatMap((run) => runCounts(run, facts)),
    ...session.segments.map((segment) => segmentCounts(segment, facts)),
    ...session.compactions.map((compaction) => compactionCounts(compaction, facts)),
  ].map(({ key }) => key);
}
