import type { Certainty, ChangeKind } from "#core/model/changes.ts";
import { isSameCommit } from "#core/rules/change-facts.ts";
import type { Database, Row } from "./database.ts";

/** A commit of a session, with how it is counted. */
export interface CommitToCount {
  /** Number of the session. */
  readonly session: number;
  readonly key: string;
  readonly commit: string;
  readonly certainty: Certainty;
  /** Number of the session's repository. Absent: unknown, or the commit may be in another one. */
  readonly repository?: number;
  /** How it is counted. Absent: not at all. */
  readonly countedAs?: Certainty;
  /** Its session was imported, and counts nothing before it is exported or continued. */
  readonly isPacked?: true;
}

/** A change of a session that is not counted yet. */
export interface ChangeToCount {
  readonly session: number;
  readonly key: string;
  readonly changeKind: ChangeKind;
  readonly change: string;
  readonly url?: string;
  readonly isCreated: boolean;
  readonly repository?: number;
}

/** Commits that are not counted as they are known now: first those that were observed, then by time. */
export const commitsToCount = (db: Database): readonly CommitToCount[] =>
  db.prepare(`${COMMITS} WHERE ${IS_UNCOUNTED} ORDER BY c.certainty = 'observed' DESC, c.time_ms`).all().map(toCommit);

/** All rows of a commit, of all sessions. */
export const rowsOfCommit = (
  db: Database,
  one: Pick<CommitToCount, "commit" | "repository">,
): readonly CommitToCount[] =>
  db
    .prepare(
      `${COMMITS} WHERE c.commit_id >= ?1 AND c.commit_id < ?1 || 'g' ORDER BY c.certainty = 'observed' DESC, c.time_ms`,
    )
    .all(one.commit.slice(0, SHORTEST))
    .map(toCommit)
    .filter(
      ({ commit, repository }) =>
        isSameCommit(commit, one.commit) &&
        (repository === undefined || one.repository === undefined || repository === one.repository),
    );

/** Changes that are not counted: first those that were created, then by time. */
export const changesToCount = (db: Database): readonly ChangeToCount[] =>
  db
    .prepare(
      `SELECT c.*, CASE WHEN c.elsewhere = 0 THEN s.repository_id END AS repository FROM changes c
       JOIN sessions s ON s.id = c.session WHERE c.counted = 0 ORDER BY c.created DESC, c.time_ms`,
    )
    .all()
    .map((row) => ({
      session: Number(row["session"]),
      key: String(row["key"]),
      changeKind: String(row["kind"]) as ChangeKind,
      change: String(row["change_id"]),
      isCreated: row["created"] === 1,
      ...(row["url"] !== null && { url: String(row["url"]) }),
      ...(row["repository"] !== null && { repository: Number(row["repository"]) }),
    }));

/** Marks rows of one commit as counted. */
export function markCommitsCounted(db: Database, rows: readonly CommitToCount[], as: Certainty): void {
  const mark = db.prepare("UPDATE commits SET counted = ? WHERE session = ? AND key = ?");
  for (const { session, key } of rows) mark.run(as === "observed" ? 2 : 1, session, key);
}

export const markChangeCounted = (db: Database, { session, key }: ChangeToCount): void => {
  db.prepare("UPDATE changes SET counted = 1 WHERE session = ? AND key = ?").run(session, key);
};

// --- internal ---

/** git prints no fewer digits of a commit. */
const SHORTEST = 4;

const IS_UNCOUNTED = "(c.counted = 0 OR (c.counted = 1 AND c.certainty = 'observed'))";

const COMMITS = `SELECT c.*, CASE WHEN c.elsewhere = 0 THEN s.repository_id END AS repository FROM commits c
  JOIN sessions s ON s.id = c.session`;

function toCommit(row: Row): CommitToCount {
  const counted = Number(row["counted"]);
  return {
    session: Number(row["session"]),
    key: String(row["key"]),
    commit: String(row["commit_id"]),
    certainty: String(row["certainty"]) as Certainty,
    ...(row["repository"] !== null && { repository: Number(row["repository"]) }),
    ...(counted < 0 && { isPacked: true as const }),
    ...(counted > 0 && { countedAs: counted === 2 ? ("observed" as const) : ("inferred" as const) }),
  };
}
