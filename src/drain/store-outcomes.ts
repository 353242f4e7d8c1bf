import { levelOf } from "../capture/level.ts";
import { loadProjectSettings } from "../capture/project.ts";
import type { EditedCommit } from "../changes/edited-commits.ts";
import { keepsNames } from "../model/capture.ts";
import { putOutcomes, type StoredOutcome } from "../store/outcomes.ts";
import { sessionById } from "../store/sessions.ts";
import type { Drain } from "./context.ts";
import { storeEntries } from "./store-entries.ts";

/** What git said of commits, to be stored. */
export interface Outcomes {
  readonly outcomes: readonly StoredOutcome[];
  /** Commits that have what sessions edited. */
  readonly edited: readonly EditedCommit[];
}

/** Stores what git said. Sessions can have been pruned, or excluded by their project, since it was asked. */
export async function storeOutcomes(drain: Drain, { outcomes, edited }: Outcomes): Promise<void> {
  const { db } = drain;
  const numbers = [...new Set(edited.map(({ session }) => session))];
  await loadProjectSettings(
    drain,
    numbers.map((number) => sessionById(db, number).cwd),
  );
  db.transaction(() => {
    for (const { session, entry } of edited) {
      const stored = sessionById(db, session);
      // Without a folder it was pruned, or nothing of it may be kept
      if (stored.cwd === undefined || !keepsNames(levelOf(drain, stored))) continue;
      storeEntries(drain, stored, [entry]);
    }
    putOutcomes(db, outcomes);
  });
}
