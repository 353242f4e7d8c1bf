import type { StoredCommit } from "#core/model/changes.ts";
import type { CommitToFollow } from "#core/model/outcomes.ts";
import { editsIn } from "#core/session/written-files.ts";
import { storedCommits, storedRepositories } from "#store/changes.ts";
import type { Database } from "#store/database.ts";
import { storedOutcomes } from "#store/outcomes.ts";
import { editedFiles, packedEdits } from "#store/session-list.ts";
import type { SessionEdits } from "./edited-commits.ts";

/** A repository, and the commits of it whose outcome is not final yet. */
export interface RepositoryToFollow {
  readonly repository: number;
  readonly name: string;
  readonly gitDir: string;
  /** Folders of the sessions that made the commits. */
  readonly folders: readonly string[];
  readonly commits: readonly CommitToFollow[];
  /** What recent sessions edited: somebody may have committed it. */
  readonly edits: readonly SessionEdits[];
}

/**
 * The commits that are to be checked, by repository. A commit whose repository is unknown is looked for in all of them.
 *
 * @param isAll final outcomes are checked again, and commits of all edits are looked for
 */
export function dueCommits(db: Database, nowMs: number, isAll: boolean): readonly RepositoryToFollow[] {
  const outcomes = new Map(storedOutcomes(db).map((outcome) => [`${outcome.repository}:${outcome.commit}`, outcome]));
  const commits = storedCommits(db);
  const replaced = new Map(
    commits.flatMap(({ replaces, commit }) => (replaces === undefined ? [] : [[replaces, commit]])),
  );
  const folders = db.prepare("SELECT cwd FROM sessions WHERE id = ?");
  const edits = new Edits(db);
  return storedRepositories(db).flatMap((repository) => {
    const { id, gitDir, name = "?" } = repository;
    if (gitDir === undefined) return [];
    const sessions = new Map<string, Set<number>>();
    const wanted = new Map<string, CommitToFollow>();
    for (const commit of commits) {
      if (commit.repository !== undefined && commit.repository !== id) continue;
      const known = outcomes.get(`${id}:${commit.commit}`);
      const isFinal =
        nowMs - (known?.landedMs ?? commit.timeMs) > (known?.landedMs === undefined ? OPEN_MS : LANDED_MS);
      if (isFinal && !isAll && known !== undefined) continue;
      const replacedBy = replaced.get(commit.commit);
      sessions.set(commit.commit, (sessions.get(commit.commit) ?? new Set()).add(commit.session));
      wanted.set(commit.commit, {
        commit: commit.commit,
        timeMs: Math.min(commit.timeMs, wanted.get(commit.commit)?.timeMs ?? commit.timeMs),
        ...(replacedBy !== undefined && { replacedBy }),
        ...(commit.repository === undefined && { isElsewhere: true }),
      });
    }
    const checkedMs = ({ commit }: CommitToFollow): number => outcomes.get(`${id}:${commit}`)?.checkedMs ?? 0;
    const next = [...wanted.values()].toSorted((a, b) => checkedMs(a) - checkedMs(b) || b.timeMs - a.timeMs);
    const chosen = next.slice(0, MAX_COMMITS).map((commit): CommitToFollow => {
      const names = [...(sessions.get(commit.commit) ?? [])].flatMap((session) =>
        edits.of(session).map(({ path }) => path),
      );
      return names.length === 0 ? commit : { ...commit, files: [...new Set(names)] };
    });
    const all = new Set(chosen.flatMap(({ commit }) => [...(sessions.get(commit) ?? [])]));
    const cwds = [...all].flatMap((session) => textOf(folders.get(session)?.["cwd"]) ?? []);
    const recent = recentEdits(db, id, isAll ? 0 : nowMs - EDITED_MS, commits, edits);
    if (chosen.length + recent.length === 0) return [];
    const places = new Set([...cwds, ...recent.map(({ folder }) => folder)]);
    return [{ repository: id, name, gitDir, folders: [...places], commits: chosen, edits: recent }];
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

/** A session with more generated files. */
const MAX_EDITS = 5_000;

/** Commits of older edits were found in earlier runs, or are asked for with `--all` only. */
const EDITED_MS = 14 * DAY_MS;

/** What sessions of a repository edited lately. At capture level none, files are not known. */
const recentEdits = (
  db: Database,
  repository: number,
  sinceMs: number,
  commits: readonly StoredCommit[],
  edited: Edits,
): readonly SessionEdits[] =>
  db
    .prepare("SELECT id, cwd FROM sessions WHERE repository_id = ? AND last_ms > ? AND cwd IS NOT NULL")
    .all(repository, sinceMs)
    .flatMap(({ id, cwd }) => {
      const session = Number(id);
      const edits = edited.of(session).filter(({ timeMs }) => timeMs > sinceMs);
      const known = commits.flatMap((one) => (one.session === session ? [one.commit] : []));
      return edits.length === 0 ? [] : [{ session, folder: String(cwd), edits, commits: known }];
    });

/** The files that sessions edited, each session read once. */
class Edits {
  readonly #db: Database;
  readonly #known = new Map<number, SessionEdits["edits"]>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** The latest first. */
  of(session: number): SessionEdits["edits"] {
    const known = this.#known.get(session) ?? this.#read(session);
    this.#known.set(session, known);
    return known;
  }

  #read(session: number): SessionEdits["edits"] {
    const packed = packedEdits(this.#db, session);
    if (packed === undefined) return editedFiles(this.#db, session);
    return editsIn(packed)
      .toSorted((a, b) => b.timeMs - a.timeMs)
      .slice(0, MAX_EDITS);
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
