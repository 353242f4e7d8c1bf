import type { EditedCommit } from "#changes/edited-commits.ts";
import type { EntryOf } from "#core/model/transcript.ts";
import { keepsNames } from "#core/rules/capture.ts";
import { changeKey, commitKey, isChangeFact } from "#core/rules/change-facts.ts";
import { levelOf } from "#store/capture/level.ts";
import { hasChangesOff, loadProjectSettings } from "#store/capture/project.ts";
import { addPackedChanges, storedCommits } from "#store/changes.ts";
import type { Database } from "#store/database.ts";
import { putOutcomes, type StoredOutcome } from "#store/outcomes.ts";
import { packedNumbers } from "#store/packed.ts";
import { sessionById } from "#store/sessions.ts";
import type { Drain } from "./context.ts";
import { entriesAtLevel, storeEntries } from "./store-entries.ts";

/** Git's answers about commits, to be stored. */
export interface Outcomes {
  readonly outcomes: readonly StoredOutcome[];
  /** Commits that have what sessions edited. */
  readonly edited: readonly EditedCommit[];
}

/**
 * Stores git's answers. Sessions can have been pruned, or excluded by their project, since it was asked.
 *
 * @param rebuildSums divides the sums of packed sessions at their new commits
 */
export async function storeOutcomes(
  drain: Drain,
  { outcomes, edited }: Outcomes,
  rebuildSums: (sessions: readonly number[]) => void,
): Promise<void> {
  const { db } = drain;
  const made = ticketsOf(db, outcomes);
  const numbers = [...new Set([...edited, ...made].map(({ session }) => session))];
  await loadProjectSettings(
    drain,
    numbers.map((number) => sessionById(db, number).cwd),
  );
  db.transaction(() => {
    const packed = packedNumbers(db);
    const divided = new Set<number>();
    for (const { session, entry } of edited) {
      const stored = sessionById(db, session);
      // Without a folder it was pruned, or nothing of it may be kept
      if (stored.cwd === undefined || !keepsNames(levelOf(drain, stored))) continue;
      if (!packed.has(session)) storeEntries(drain, stored, [entry]);
      else if (!hasChangesOff(drain, stored)) {
        addPackedChanges(db, session, entriesAtLevel(drain, stored, [entry]).filter(isChangeFact));
        divided.add(session);
      }
    }
    rebuildSums([...divided]);
    for (const { session, entry } of ticketsOf(db, outcomes)) {
      const stored = sessionById(db, session);
      if (stored.cwd === undefined || !keepsNames(levelOf(drain, stored)) || hasChangesOff(drain, stored)) continue;
      if (packed.has(session))
        addPackedChanges(db, session, entriesAtLevel(drain, stored, [entry]).filter(isChangeFact));
      else storeEntries(drain, stored, [entry]);
    }
    putOutcomes(db, outcomes);
  });
}

// --- internal ---

/** The tickets in the trailers of commits, for each session that made them; as certain as that it did. */
function ticketsOf(
  db: Database,
  outcomes: readonly StoredOutcome[],
): readonly { readonly session: number; readonly entry: EntryOf<"change"> }[] {
  const named = outcomes.filter(({ tickets = [] }) => tickets.length > 0);
  if (named.length === 0) return [];
  const commits = storedCommits(db);
  return named.flatMap(({ commit, repository, tickets = [] }) =>
    commits
      .filter((one) => one.commit === commit && (one.repository ?? repository) === repository)
      .flatMap(({ session, timeMs, certainty, agentId, isElsewhere }) =>
        tickets.map((change) => {
          const ticket = { changeKind: "ticket" as const, change };
          const key = `${changeKey(ticket)}:${commitKey(commit)}`;
          const of = { ...(agentId !== undefined && { agentId }), ...(isElsewhere && { isElsewhere }) };
          return {
            session,
            entry: { kind: "change", key, timeMs, ...ticket, certainty, how: "trailer", commit, ...of },
          };
        }),
      ),
  );
}
