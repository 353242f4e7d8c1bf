import type { TranscriptEntry } from "../model/transcript.ts";
import { count } from "../store/counters.ts";
import { addEntries, type Revision } from "../store/facts.ts";
import type { StoredSession } from "../store/sessions.ts";
import { revise } from "../store/work.ts";
import { costNanoUsd } from "../telemetry/cost.ts";
import { METRIC_SHAPES, modelCallRevision } from "../telemetry/metrics.ts";
import type { Drain } from "./deps.ts";
import { factsOf } from "./derive.ts";

/**
 * Entries → store. What was counted already and is told more fully now, counts what it is more. Call it inside the
 * transaction that also settles where they came from.
 */
export function keepEntries(drain: Drain, session: StoredSession, entries: readonly TranscriptEntry[]): void {
  for (const revision of addEntries(drain.db, session, entries)) applyRevision(drain, session, revision);
}

// --- internal ---

function applyRevision(drain: Drain, session: StoredSession, { before, after }: Revision): void {
  const facts = factsOf(drain, session);
  const revised = revise(drain.db, session.id, before, after, (call) => costNanoUsd(call, facts.provider));
  if (revised === undefined) return;
  count(drain.db, [modelCallRevision(revised.before, revised.after, facts)], METRIC_SHAPES, drain.now());
}
