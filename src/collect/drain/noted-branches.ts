import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import { NO_BRANCH, ticketsOfBranch } from "#core/rules/change-facts.ts";
import { BranchTrack } from "#core/session/branch-track.ts";
import { hasChangesOff } from "#store/capture/project.ts";
import { lastNotedBranch } from "#store/changes.ts";
import type { Database } from "#store/database.ts";
import { activityIn } from "#store/facts.ts";
import type { StoredSession } from "#store/sessions.ts";
import type { Drain } from "./context.ts";

/**
 * The branches that a batch of a transcript names, and their tickets.
 *
 * @param entries in order, without secrets, and without branches at a capture level that keeps no names
 */
export function notedBranches(
  drain: Drain,
  session: StoredSession,
  entries: readonly TranscriptEntry[],
): readonly EntryOf<"change">[] {
  const { db, loaded } = drain;
  const noted = entries.filter((entry) => entry.kind === "session").filter(({ branches }) => branches !== undefined);
  if (noted.length === 0) return [];
  const last = lastNotedBranch(db, session.id) ?? NO_BRANCH;
  if (noted.every(({ gitBranch = NO_BRANCH }) => gitBranch === last) || hasChangesOff(drain, session)) return [];
  const track = trackOf(db, session.id, last);
  for (const entry of entries) {
    if (entry.kind === "session") track.enter(entry);
    else if (entry.agentId !== undefined) continue;
    else if (entry.kind === "prompt") track.prompt(entry.timeMs);
    else if (entry.kind === "model_call") track.activity(entry.endMs);
    else if (entry.kind === "tool_result") track.activity(entry.timeMs);
  }
  return withTickets(track, loaded.config.changes.ticketPattern);
}

/**
 * The branch that HEAD names after a turn, if it was checked out so shortly before the turn's end that the agent has not noted it.
 *
 * @param head the branch, and when it was checked out
 */
export function lateBranches(
  { db, loaded }: Drain,
  sessionNumber: number,
  { timeMs, branch }: { readonly timeMs: number | undefined; readonly branch: string },
): readonly EntryOf<"change">[] {
  const last = lastNotedBranch(db, sessionNumber);
  if (timeMs === undefined || last === undefined || last === branch) return [];
  const { lastMs = Number.NaN } = activityIn(db, sessionNumber);
  if (!(timeMs > lastMs - LONGEST_DELAY_MS && timeMs <= lastMs)) return [];
  const track = trackOf(db, sessionNumber, last);
  const noted = { kind: "session", key: "session", timeMs, branches: "followed" } as const;
  track.enter(branch === NO_BRANCH ? noted : { ...noted, gitBranch: branch });
  track.activity(lastMs);
  return withTickets(track, loaded.config.changes.ticketPattern);
}

// --- internal ---

/** Claude Code 2.1.332 looks once a second which branch is checked out; measured 2026-11-27. */
const LONGEST_DELAY_MS = 2_000;

const trackOf = (db: Database, sessionNumber: number, last: string): BranchTrack =>
  new BranchTrack({ branch: last, ...activityIn(db, sessionNumber) });

const withTickets = (track: BranchTrack, pattern: string): readonly EntryOf<"change">[] =>
  track.found().flatMap((one) => [one, ...ticketsOfBranch(one, pattern)]);
