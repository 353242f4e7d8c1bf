import { isUtf8 } from "node:buffer";
import Libsql from "libsql";
import { messageOf } from "#kit/errors.ts";
import { withoutHalves } from "#kit/texts-as-bytes.ts";
import { type Database, preparerOf, StoreError } from "./connection.ts";
import { runMigrations } from "./migrate.lazy.ts";
import { texts } from "./rows.ts";
import { type StoredSession, sessionById } from "./sessions.ts";

// Read-only checks: whether a store is intact, and its latest activity

/** Checking this much takes one or two seconds; in larger stores only small tables are checked. */
const WHOLE_CHECK_BYTES = 256 * 1024 * 1024;

/**
 * SQLite's own check, and whether every text is UTF-8; bounded in time.
 *
 * @param sizeBytes of the file
 * @returns what is wrong, one line each, at most ten; `isWhole`: all tables were checked
 */
export function checkIntegrity(
  db: Database,
  sizeBytes: number,
): { readonly problems: readonly string[]; readonly isWhole: boolean } {
  const isWhole = sizeBytes <= WHOLE_CHECK_BYTES;
  return { problems: problemsOf(db, 10, isWhole ? undefined : SMALL_TABLES), isWhole };
}

/**
 * What is wrong with a store: damaged pages, missing tables and columns, text that is not UTF-8.
 *
 * @param limit maximum number of lines
 * @param only the tables to check. @default all of them
 */
export function problemsOf(db: Database, limit: number, only?: readonly string[]): readonly string[] {
  const lines = (only ?? [undefined]).flatMap((table) =>
    db
      .prepare(`SELECT quick_check AS line FROM pragma_quick_check(${table === undefined ? limit : `'${table}'`})`)
      .all()
      // One row can contain many lines below a heading
      .flatMap((row) => String(row["line"]).split("\n")),
  );
  const problems = lines.filter((line) => line !== "ok" && line !== "" && !line.startsWith("***"));
  // Damaged tables cannot be read
  if (problems.length > 0) return problems.slice(0, limit);
  return [...missingNames(db), ...(only ?? tablesOf(db)).flatMap((table) => brokenTexts(db, table))].slice(0, limit);
}

/** The store's own tables. */
export const tablesOf = (db: Pick<Database, "prepare">): readonly string[] =>
  texts(db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid");

/** Columns of a table. `key`: position in the primary key, 0 if it is not part of it. */
export const columnsOf = (
  db: Pick<Database, "prepare">,
  table: string,
): readonly { readonly name: string; readonly key: number }[] =>
  db
    .prepare(`SELECT name, pk FROM pragma_table_info('${table}') ORDER BY cid`)
    .all()
    .map((row) => ({ name: String(row["name"]), key: Number(row["pk"]) }));

/** Time of the latest event, in milliseconds since the epoch; `undefined` without events. */
export function lastActivityMs(db: Database): number | undefined {
  const newest = db
    .prepare("SELECT max((SELECT max(time_ms) FROM events e WHERE e.session = s.id)) AS ms FROM sessions s")
    .get()?.["ms"];
  return typeof newest === "number" ? newest : undefined;
}

/** A source's latest activity. */
export interface SourceActivity {
  readonly sessions: number;
  /** Time of the latest event; absent if only transcripts reported sessions. */
  readonly eventMs?: number;
  /** The agent's version, from the latest session that reported one. */
  readonly version?: string;
  readonly newest: StoredSession;
}

/** @returns `undefined` for a source without sessions */
export function sourceActivity(db: Database, source: string): SourceActivity | undefined {
  const newest = db.prepare("SELECT id FROM sessions WHERE source = ? ORDER BY last_ms DESC LIMIT 1").get(source);
  if (newest === undefined) return undefined;
  const row = db
    .prepare(
      `SELECT count(*) AS n, max((SELECT max(time_ms) FROM events e WHERE e.session = s.id)) AS event_ms,
         (SELECT agent_version FROM sessions v WHERE v.source = ?1 AND v.agent_version IS NOT NULL
          ORDER BY last_ms DESC LIMIT 1) AS version
       FROM sessions s WHERE source = ?1`,
    )
    .get(source);
  const [eventMs, version] = [row?.["event_ms"], row?.["version"]];
  return {
    sessions: Number(row?.["n"]),
    newest: sessionById(db, Number(newest["id"])),
    ...(typeof eventMs === "number" && { eventMs }),
    ...(typeof version === "string" && { version }),
  };
}

// --- internal ---

const SMALL_TABLES = ["meta", "sessions", "segments", "counters", "outbox", "log_outbox"] as const;

/** SQLite does not notice a damaged name of a table or column; for this program it is missing. */
function missingNames(db: Database): readonly string[] {
  const made = new Libsql(":memory:", {});
  try {
    runMigrations(made, 0);
    const there = namesIfReadable(db);
    if (typeof there === "string") return [there];
    return namesOf(preparerOf(made))
      .filter((name) => !there.has(name))
      .map((name) => `there is no ${name} in it`);
  } finally {
    made.close();
  }
}

/** @returns a problem if a view refers to a name that is not in the store, because one of the two is damaged */
function namesIfReadable(db: Database): ReadonlySet<string> | string {
  try {
    return new Set(namesOf(db));
  } catch (error) {
    if (error instanceof StoreError) throw error;
    return `its schema is damaged: ${messageOf(error)}`;
  }
}

const namesOf = (db: Pick<Database, "prepare">): readonly string[] =>
  texts(
    db,
    `SELECT 'column ' || one.name || '.' || part.name AS name FROM sqlite_schema one, pragma_table_info(one.name) part
       WHERE one.type IN ('table', 'view')`,
  );

/** Reads the text of many rows as one value: the number of values determines the time. */
function brokenTexts(db: Database, table: string): readonly string[] {
  // Only text: it sorts after numbers and before blobs
  const texts = columnsOf(db, table).map(({ name }) => `iif(${name} >= '' AND ${name} < x'', ${name}, '')`);
  const some = db.prepare(
    `SELECT count(*) AS count, CAST(group_concat(texts, char(10)) AS BLOB) AS texts FROM (
       SELECT ${texts.join(" || ' ' || ")} AS texts FROM ${table} LIMIT ${ROWS_AT_ONCE} OFFSET ?)`,
  );
  for (let from = 0; ; from += ROWS_AT_ONCE) {
    const row = some.get(from);
    const all = row?.["texts"];
    if (all instanceof Uint8Array && !isUtf8(all) && withoutHalves(all) === undefined)
      return [`the table ${table} contains text that is not valid UTF-8`];
    if (Number(row?.["count"] ?? 0) < ROWS_AT_ONCE) return [];
  }
}

/** About a megabyte. Not fewer rows, because OFFSET counts all earlier ones each time. */
const ROWS_AT_ONCE = 1_000;
