import type { ChangeKind, CommitKind, StoredChange, StoredCommit, StoredRepository } from "#core/model/changes.ts";
import type { Packed } from "#core/model/packed.ts";
import type { Repository } from "#core/model/session.ts";
import type { EntryOf } from "#core/model/transcript.ts";
import { NO_NAME } from "#core/rules/change-facts.ts";
import { defined } from "#kit/objects.ts";
import type { Database, Row, Value } from "./database.ts";
import { insertRows, numbers, rowOf, textIn } from "./rows.ts";

type ChangeEntry = EntryOf<"commit"> | EntryOf<"change">;

/** Writes the row of a commit or change, or replaces it by what is known now. Call it in the transaction that stores the entry. */
export function putChangeFact(db: Database, session: number, entry: ChangeEntry): void {
  putRows(db, [{ id: session, changes: [entry] }], NOT_COUNTED);
}

/**
 * Stores what an import found in sessions that are packed, in place of what an earlier one found. It is not counted before the session
 * is unpacked.
 */
export function putPackedChanges(
  db: Database,
  packed: readonly { readonly id: number; readonly packed: Pick<Packed, "changes"> }[],
): void {
  const sessions = packed.flatMap(({ id, packed: { changes } }) => (changes === undefined ? [] : [{ id, changes }]));
  if (sessions.length === 0) return;
  const ids = JSON.stringify(sessions.map(({ id }) => id));
  for (const table of ["commits", "changes"]) {
    db.prepare(
      `DELETE FROM ${table} WHERE session IN (SELECT value FROM json_each(?)) AND how NOT IN ('edits', 'trailer')
         AND counted = ${OF_PACKED}`,
    ).run(ids);
  }
  putRows(db, sessions, OF_PACKED);
}

/** Adds commits and changes of a session that is packed and stays so. */
export const addPackedChanges = (db: Database, session: number, entries: readonly ChangeEntry[]): void =>
  putRows(db, [{ id: session, changes: entries }], OF_PACKED);

/** The commits and changes of a session that is no longer packed are to be counted. */
export function countUnpackedChanges(db: Database, session: number): void {
  for (const table of ["commits", "changes"]) {
    db.prepare(`UPDATE ${table} SET counted = 0 WHERE session = ? AND counted = ${OF_PACKED}`).run(session);
  }
}

/** The last branch that a session's transcript named, `NO_BRANCH` included. */
export function lastNotedBranch(db: Database, session: number): string | undefined {
  const row = db
    .prepare(
      `SELECT change_id FROM changes WHERE session = ? AND kind = 'branch' AND how = 'transcript'
       ORDER BY time_ms DESC, key DESC LIMIT 1`,
    )
    .get(session);
  return row === undefined ? undefined : textIn(row, "change_id");
}

/** The branch that HEAD named last is still checked out at a later time. Does nothing if another one is the last. */
export function extendBranch(db: Database, session: number, branch: string, timeMs: number): void {
  const last = db
    .prepare(
      `SELECT key, change_id, time_ms FROM changes WHERE session = ? AND kind = 'branch' AND how = 'branch-name'
       ORDER BY time_ms DESC`,
    )
    .get(session);
  if (last === undefined || last["change_id"] !== branch || Number(last["time_ms"]) >= timeMs) return;
  const key = String(last["key"]);
  db.prepare("UPDATE changes SET time_ms = ? WHERE session = ? AND key = ?").run(timeMs, session, key);
  db.prepare(
    "UPDATE entries SET time_ms = ?1, body = json_set(body, '$.timeMs', ?1) WHERE session = ?2 AND key = ?3",
  ).run(timeMs, session, key);
}

/** Times of a session's commits and changes, ascending. */
export const changeTimes = (db: Database, session: number): readonly number[] =>
  numbers(
    db,
    `SELECT time_ms FROM commits WHERE session = ?1 UNION SELECT time_ms FROM changes WHERE session = ?1
       ORDER BY time_ms`,
    session,
  );

/** Whether commits of what a session edited were found after it was read. */
export const hasLaterCommits = (db: Database, session: number): boolean =>
  db.prepare("SELECT 1 FROM commits WHERE session = ? AND how = 'edits'").get(session) !== undefined;

/** Stores in which repository a session works. */
export function setRepository(
  db: Database,
  session: number,
  { name, url }: Pick<Repository, "name" | "url">,
  gitDir: string | undefined,
): void {
  const key = url ?? gitDir;
  if (key === undefined) return;
  db.prepare(
    `INSERT INTO repositories (key, name, url, git_dir) VALUES (?, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET name = excluded.name, git_dir = coalesce(excluded.git_dir, git_dir)`,
  ).run(key, name, url ?? null, gitDir ?? null);
  const id = Number(db.prepare("SELECT id FROM repositories WHERE key = ?").get(key)?.["id"]);
  db.prepare("UPDATE sessions SET repository_id = ? WHERE id = ? AND repository_id IS NOT ?").run(id, session, id);
}

/** Does the same if the repository is stored already, with one statement. @returns whether it is */
export const hasSetRepository = (
  db: Database,
  session: number,
  { url }: Pick<Repository, "url">,
  gitDir: string | undefined,
): boolean =>
  db
    .prepare("UPDATE sessions SET repository_id = r.id FROM repositories r WHERE r.key = ? AND sessions.id = ?")
    .run(url ?? gitDir ?? null, session).changes > 0;

/** Removes and overwrites all commits and changes of a session. @returns whether there were any */
export function removeChanges(db: Database, session: number): boolean {
  if (
    db
      .prepare("SELECT 1 FROM commits WHERE session = ?1 UNION SELECT 1 FROM changes WHERE session = ?1")
      .get(session) === undefined
  )
    return false;
  db.prepare("PRAGMA secure_delete = ON").get();
  db.prepare("DELETE FROM entries WHERE session = ? AND kind IN ('commit', 'change')").run(session);
  db.prepare("DELETE FROM commits WHERE session = ?").run(session);
  db.prepare("DELETE FROM changes WHERE session = ?").run(session);
  forgetRepository(db, session);
  return true;
}

/** Removes names from a session's commits and changes, and its repository. Its branches and tickets are names themselves. */
export function forgetChangeNames(db: Database, session: number): void {
  db.prepare("UPDATE commits SET branch = NULL WHERE session = ?").run(session);
  db.prepare("DELETE FROM changes WHERE session = ? AND kind IN ('branch', 'ticket')").run(session);
  db.prepare("UPDATE changes SET url = NULL, branch = NULL WHERE session = ?").run(session);
  forgetRepository(db, session);
}

/** Removes a session's repository, and the repository itself if no other session has it. */
export function forgetRepository(db: Database, session: number): void {
  db.prepare("UPDATE sessions SET repository_id = NULL WHERE id = ? AND repository_id IS NOT NULL").run(session);
  db.prepare(
    "DELETE FROM repositories WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.repository_id = repositories.id)",
  ).run();
}

/** Whether there are commits or changes that are not in the counters as they are known now. */
export const hasUncounted = (db: Database): boolean =>
  db
    .prepare(
      `SELECT 1 FROM commits WHERE counted = 0 OR (counted = 1 AND certainty = 'observed')
       UNION ALL SELECT 1 FROM changes WHERE counted = 0 LIMIT 1`,
    )
    .get() !== undefined;

/** Every repository in which a stored session worked. */
export const storedRepositories = (db: Database): readonly StoredRepository[] =>
  db
    .prepare("SELECT id, key, name, url, git_dir FROM repositories ORDER BY id")
    .all()
    .map((row) =>
      defined<StoredRepository>({
        id: Number(row["id"]),
        key: String(row["key"]),
        name: textIn(row, "name"),
        url: textIn(row, "url"),
        gitDir: textIn(row, "git_dir"),
      } as StoredRepository),
    );

/** Commits of one session, or of all, by time. */
export const storedCommits = (db: Database, session?: number): readonly StoredCommit[] =>
  db
    .prepare(rowsOf("commits", OF_ONE_OR_ALL))
    .all(session ?? null)
    .map(toCommit);

/** Commits of a session, and those of other sessions with the same id, by time. */
export const commitsAround = (db: Database, session: number): readonly StoredCommit[] =>
  db
    .prepare(rowsOf("commits", "t.session = ?1 OR t.key IN (SELECT key FROM commits WHERE session = ?1)"))
    .all(session)
    .map(toCommit);

/** Changes of a session, and pull requests of its branches, whichever session knows them, by time. */
export const changesAround = (db: Database, session: number): readonly StoredChange[] =>
  db
    .prepare(
      rowsOf(
        "changes",
        `t.session = ?1 OR (t.kind = 'pull_request' AND t.branch IN
           (SELECT change_id FROM changes WHERE session = ?1 AND kind = 'branch'))`,
      ),
    )
    .all(session)
    .map(toChange);

/** Changes of one session, or of all, by time. */
export const storedChanges = (db: Database, session?: number): readonly StoredChange[] =>
  db
    .prepare(rowsOf("changes", OF_ONE_OR_ALL))
    .all(session ?? null)
    .map(toChange);

// --- internal ---

/** In the column `counted`. */
const OF_PACKED = -1;

const NOT_COUNTED = 0;

const COMMON = [
  "session",
  "key",
  "time_ms",
  "certainty",
  "how",
  "branch",
  "call_id",
  "agent_id",
  "elsewhere",
  "counted",
];

/** Writes rows, or replaces them; whether those that were there are counted stays. */
function putRows(
  db: Database,
  sessions: readonly { readonly id: number; readonly changes: readonly ChangeEntry[] }[],
  counted: number,
): void {
  const commits: Value[] = [];
  const changes: Value[] = [];
  for (const { id, changes: entries } of sessions) {
    for (const entry of entries) {
      const { key, timeMs, certainty, how, branch = null, callId = null, agentId = null, isElsewhere } = entry;
      const common = [id, key, timeMs, certainty, how, branch, callId, agentId, isElsewhere === true ? 1 : 0, counted];
      if (entry.kind === "commit") {
        commits.push(...common, entry.commit, entry.commitKind ?? null, entry.replaces ?? null);
      } else if (entry.change !== NO_NAME) {
        const { changeKind, change, isCreated, url = null, commit = null } = entry;
        changes.push(...common, changeKind, change, isCreated === true ? 1 : 0, url, commit);
      }
    }
  }
  putTable(db, "commits", ["commit_id", "kind", "replaces"], commits);
  putTable(db, "changes", ["kind", "change_id", "created", "url", "commit_id"], changes);
}

function putTable(db: Database, table: string, own: readonly string[], values: readonly Value[]): void {
  const columns = [...COMMON, ...own];
  const replaced = columns.filter((name) => name !== "counted").map((name) => `${name} = excluded.${name}`);
  const then = `ON CONFLICT (session, key) DO UPDATE SET ${replaced.join(", ")}`;
  insertRows(db, `INSERT INTO ${table} (${columns.join(", ")}) VALUES`, rowOf(columns.length), values, then);
}

const OF_ONE_OR_ALL = "?1 IS NULL OR t.session = ?1";

const rowsOf = (table: string, condition: string): string =>
  `SELECT t.*, CASE WHEN t.elsewhere = 0 THEN s.repository_id END AS repository FROM ${table} t
   JOIN sessions s ON s.id = t.session WHERE ${condition} ORDER BY t.time_ms, t.session, t.key`;

const toCommit = (row: Row): StoredCommit =>
  defined<StoredCommit>({
    ...commonIn(row),
    commit: String(row["commit_id"]),
    commitKind: textIn(row, "kind") as CommitKind,
    replaces: textIn(row, "replaces"),
  } as StoredCommit);

const toChange = (row: Row): StoredChange =>
  defined<StoredChange>({
    ...commonIn(row),
    changeKind: String(row["kind"]) as ChangeKind,
    change: String(row["change_id"]),
    isCreated: row["created"] === 1 ? true : undefined,
    url: textIn(row, "url"),
    commit: textIn(row, "commit_id"),
  } as StoredChange);

const commonIn = (row: Row) => ({
  session: Number(row["session"]),
  repository: row["repository"] === null ? undefined : Number(row["repository"]),
  timeMs: Number(row["time_ms"]),
  certainty: String(row["certainty"]),
  how: String(row["how"]),
  branch: textIn(row, "branch"),
  callId: textIn(row, "call_id"),
  agentId: textIn(row, "agent_id"),
  isElsewhere: row["elsewhere"] === 1 ? true : undefined,
});
