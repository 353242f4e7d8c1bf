import type { TranscriptEntry } from "#core/model/transcript.ts";
import { reviseSettledWork } from "#core/rules/call-sums.ts";
import { keepsNames } from "#core/rules/capture.ts";
import { cardOf } from "#core/rules/cards.ts";
import { isChangeFact } from "#core/rules/change-facts.ts";
import { callPrice } from "#core/telemetry/cost.ts";
import { modelCallRevision } from "#core/telemetry/metrics.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { reviseTotals, type Totals } from "#core/telemetry/totals.ts";
import { countsAtLevel, levelOf } from "#store/capture/level.ts";
import { stripEntryNames } from "#store/capture/names.ts";
import { hasChangesOff } from "#store/capture/project.ts";
import { protectCounts, protectEntries } from "#store/capture/protect.ts";
import { countFacts } from "#store/counters.ts";
import { addEntries, type Revision } from "#store/facts.ts";
import { type RevisedCall, reviseCall } from "#store/revise-call.ts";
import { changeTotals } from "#store/segments.ts";
import { sessionFactsOf } from "#store/sessions/read-session.ts";
import { type StoredSession, sessionById } from "#store/sessions.ts";
import { changeOpenWork } from "#store/settled-context.ts";
import type { Drain } from "./context.ts";

/**
 * Entries → store. If a model call was counted and its record is more complete now, the difference is added to counters and to the
 * segment's sums. Call it inside the transaction that also stores the position, or the name of the inbox file.
 *
 * @param cwd the folder that their event names, if there is one
 */
export function storeEntries(
  drain: Drain,
  session: StoredSession,
  entries: readonly TranscriptEntry[],
  cwd?: string,
): void {
  const changesOff = entries.some(isChangeFact) && hasChangesOff(drain, session, cwd);
  const wanted = changesOff ? entries.filter((entry) => !isChangeFact(entry)) : entries;
  const kept = entriesAtLevel(drain, session, wanted);
  applyRevisions(drain, addEntries(drain.db, session, kept));
}

/** Adds the difference that more complete records of counted calls make. */
export function applyRevisions(drain: Drain, revisions: readonly Revision[]): void {
  for (const revision of revisions) applyRevision(drain, sessionById(drain.db, revision.session), revision);
}

/** Adds the differences that changes of a session's settled calls make to counters and sums. */
export function applyRevisedCalls(drain: Drain, session: StoredSession, calls: readonly RevisedCall[]): void {
  for (const call of calls) applyRevisedCall(drain, session, call);
}

/** Entries without secrets, and without names if the session's capture level keeps none. */
export function entriesAtLevel(
  drain: Drain,
  session: StoredSession,
  entries: readonly TranscriptEntry[],
): readonly TranscriptEntry[] {
  const safe = protectEntries(drain, entries, session.cwd);
  if (keepsNames(levelOf(drain, session))) return safe;
  const own = cardOf(drain, session.source)?.own;
  return safe.map((entry) => stripEntryNames(entry, own));
}

// --- internal ---

function applyRevision(drain: Drain, session: StoredSession, { before, after }: Revision): void {
  const facts = sessionFactsOf(drain, session);
  const revised = reviseCall(drain.db, session.id, before, after, (call) => callPrice(call, facts.provider));
  if (revised !== undefined) applyRevisedCalls(drain, session, [revised]);
}

function applyRevisedCall(
  drain: Drain,
  session: StoredSession,
  { segment, before: was, after: is }: RevisedCall,
): void {
  const facts = sessionFactsOf(drain, session);
  changeTotals(drain.db, session.id, segment, (totals) => {
    const revised = reviseTotals(totals === "{}" ? undefined : (JSON.parse(totals) as Totals), was, is);
    return revised === undefined ? undefined : JSON.stringify(revised);
  });
  changeOpenWork(drain.db, session.id, is.call, (work) => reviseSettledWork(work, was, is));
  const counts = [modelCallRevision(was, is, facts)];
  const kept = protectCounts(drain, countsAtLevel(drain, counts, levelOf(drain, session)));
  countFacts(drain.db, kept, METRIC_SHAPES, drain.now());
}
