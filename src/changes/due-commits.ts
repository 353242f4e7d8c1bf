import type { CommitToFollow } from "../model/outcomes.ts";
import { storedCommits, storedRepositories } from "../store/changes.ts";
import type { Database } from "../store/database.ts";
import { storedOutcomes } from "../store/outcomes.ts";

/** A repository, and the commits of it whose outcome is not final yet. */
export interface RepositoryToFollow {
  readonly repository: number;
  readonly name: string;
  readonly gitDir: string;
  /** Folders of the sessions that made the commits. */
  readonly folders: readonly string[];
  readonly commits: readonly CommitToFollow[];
}

/**
 * The commits that are to be checked, by repository. A commit whose repository is unknown is asked for in all of them.
 *
 * @param isAll final outcomes are checked again
 */
export function dueCommits(db: Database, nowMs: number, isAll: boolean): readonly RepositoryToFollow[] {
  const outcomes = new Map(storedOutcomes(db).map((one) => [`${one.repository}:${one.commit}`, one]));
  const commits = storedCommits(db);
  const replaced = new Map(
    commits.flatMap(({ replaces, commit }) => (replaces === undefined ? [] : [[replaces, commit]])),
  );
  const folders = db.prepare("SELECT cwd FROM sessions WHERE id = ?");
  const edits = db.prepare(EDITS);
  return storedRepositories(db).flatMap((repository) => {
    const { id, gitDir, name = "?" } = repository;
    if (gitDir === undefined) return [];
    const sessions = new Map<string, Set<number>>();
    const wanted = new Map<string, CommitToFollow>();
    for (const one of commits) {
      if (one.repository !== undefined && one.repository !== id) continue;
      const known = outcomes.get(`${id}:${one.commit}`);
      const isFinal = nowMs - (known?.landedMs ?? one.timeMs) > (known?.landedMs === undefined ? OPEN_MS : LANDED_MS);
      if (isFinal && !isAll && known !== undefined) continue;
      const replacedBy = replaced.get(one.commit);
      sessions.set(one.commit, (sessions.get(one.commit) ?? new Set()).add(one.session));
      wanted.set(one.commit, {
        commit: one.commit,
        timeMs: Math.min(one.timeMs, wanted.get(one.commit)?.timeMs ?? one.timeMs),
        ...(replacedBy !== undefined && { replacedBy }),
        ...(one.repository === undefined && { isElsewhere: true }),
      });
    }
    const checkedMs = ({ commit }: CommitToFollow): number => outcomes.get(`${id}:${commit}`)?.checkedMs ?? 0;
    const next = [...wanted.values()].toSorted((a, b) => checkedMs(a) - checkedMs(b) || b.timeMs - a.timeMs);
    const chosen = next.slice(0, MAX_COMMITS).map((one): CommitToFollow => {
      const names = [...(sessions.get(one.commit) ?? [])].flatMap((session) =>
        edits.all(session).map((row) => String(row["path"])),
      );
      return names.length === 0 ? one : { ...one, files: [...new Set(names)] };
    });
    const all = new Set(chosen.flatMap(({ commit }) => [...(sessions.get(commit) ?? [])]));
    const cwds = [...all].flatMap((session) => textOf(folders.get(session)?.["cwd"]) ?? []);
    return chosen.length === 0 ? [] : [{ repository: id, name, gitDir, folders: [...new Set(cwds)], commits: chosen }];
  });
}

// --- internal ---

const DAY_MS = 86_400_000;
/** Lines are counted for the last time after 30 days. */
const LANDED_MS = 32 * DAY_MS;
/** A branch that is older is seldom merged any more. */
const OPEN_MS = 90 * DAY_MS;
/** In one run; those that were not checked for longest come first. */
const MAX_COMMITS = 500;

const EDITS = `SELECT DISTINCT json_extract(body, '$.data.path') AS path FROM events
  WHERE session = ? AND type = 'file.write' AND json_extract(body, '$.data.path') IS NOT NULL LIMIT 5000`;

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
