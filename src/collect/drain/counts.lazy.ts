import { compactionCounts, runCounts, segmentCounts } from "#core/telemetry/metrics.ts";
import { sessionFactsOf } from "#store/sessions/read-session.ts";
import { unsettledSession } from "#store/sessions/unsettled-session.ts";
import { sessionById } from "#store/sessions.ts";
import type { Drain } from "./context.ts";

/** The keys under which the unsettled part of a session is counted. */
export function countKeysOf(drain: Drain, sessionNumber: number): readonly string[] {
  const stored = sessionById(drain.db, sessionNumber);
  const facts = sessionFactsOf(drain, stored);
  const session = unsettledSession(drain, stored);
  return [
    ...[...session.turns, ...session.subagents].flatMap((run) => runCounts(run, facts)),
    ...session.segments.map((segment) => segmentCounts(segment, facts)),
    ...session.compactions.map((compaction) => compactionCounts(compaction, facts)),
  ].map(({ key }) => key);
}
