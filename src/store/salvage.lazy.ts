import { pathToFileURL } from "node:url";
import Libsql from "libsql";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { decodePackedFacts } from "#core/packed/fact-columns.ts";
import { withoutHalves } from "#kit/texts-as-bytes.ts";
import { checkNames, codeAndText, type Database, preparerOf, type Row, StoreError, type Value } from "./connection.ts";
import { columnsOf, problemsOf, tablesOf } from "./health.ts";
import { markTorn } from "./packed.ts";

/** What was salvaged from a damaged store. */
export interface Salvaged {
  readonly rows: number;
  /** Tables that could not be read, or only in part. */
  readonly incomplete: readonly string[];
  /** The counters start again: a backend sees a new series from zero. */
  readonly countsAnew: boolean;
}

/**
 * Copies every row that can be read from a damaged store into a new one. Call it inside a transaction of the new store, before
 * anything else is in it. The damaged store is not changed.
 *
 * What was counted is not counted again: keys of counted facts are copied as far as they can be read. The sums are continued only
 * if all sums and all keys were read; otherwise they start at zero under a new `service.instance.id`, because an unknown sum must
 * not be reported as known. If facts are missing, transcripts are read from the start again; known facts change nothing.
 */
export function salvage(damaged: string, db: Database): Salvaged {
  const tables = tablesOf(db);
  const from = openDamaged(damaged);
  if (from === undefined) return { rows: 0, incomplete: tables, countsAnew: true };
  try {
    // A row can come before the row that it refers to
    db.prepare("PRAGMA defer_foreign_keys = ON").get();
    const incomplete = new Set<string>();
    let rows = 0;
    for (const table of tables) {
      const copied = copyTable(from, db, table);
      rows += copied.rows;
      if (!copied.isWhole) incomplete.add(table);
    }
    for (const table of dropOrphans(db, tables)) incomplete.add(table);
    const isMissing = (...names: readonly string[]) => names.some((name) => incomplete.has(name));
    // The new store is another file
    db.prepare("DELETE FROM meta WHERE key = 'store.file'").run();
    const countsAnew = isMissing("counters", "increments", "meta");
    if (countsAnew) {
      db.prepare("DELETE FROM counters").run();
      db.prepare("DELETE FROM meta WHERE key LIKE 'instance.%' OR key LIKE 'delivered.%'").run();
    }
    if (isMissing("sessions", "events", "entries", "owners", "packed")) db.prepare("DELETE FROM positions").run();
    if (isMissing("packed")) {
      // An imported session without its facts is removed: the next import treats it as new
      db.prepare(
        `DELETE FROM segments WHERE session IN (SELECT id FROM sessions s WHERE s.pruned_ms IS NULL
           ${["packed", "turns", "spans", "events", "entries"].map((one) => `AND NOT EXISTS (SELECT 1 FROM ${one} t WHERE t.session = s.id)`).join(" ")})`,
      ).run();
    }
    if (isMissing("segments", "packed_usage", "packed_tools", "packed_turns", "packed_owners")) markTorn(db);
    return { rows, incomplete: tables.filter((table) => incomplete.has(table)), countsAnew };
  } finally {
    from.close();
  }
}

/**
 * What is wrong with an open store, after an unexpected error: damaged pages, invalid JSON. `undefined`: the store is intact.
 */
export function findDamage(db: Database): string | undefined {
  const [problem] = problemsOf(db, 1);
  if (problem !== undefined) return problem;
  for (const table of tablesOf(db)) {
    for (const { name } of columnsOf(db, table)) {
      if (!JSON_COLUMNS.has(name)) continue;
      const bytes = table === "packed" ? ` AND typeof(${name}) <> 'blob'` : "";
      const sql = `SELECT 1 FROM ${table} WHERE ${name} IS NOT NULL AND NOT json_valid(${name})${bytes} LIMIT 1`;
      if (db.prepare(sql).get() !== undefined) return `the table ${table} contains text that is not valid JSON`;
    }
  }
  // One at a time: all of them may not fit into memory
  for (const { session } of db.prepare("SELECT session FROM packed WHERE typeof(body) = 'blob'").all()) {
    const row = db.prepare("SELECT body FROM packed WHERE session = ?").get(Number(session));
    if (row !== undefined && !isSound(row))
      return `the facts of session ${session} in the table packed cannot be decoded`;
  }
  return undefined;
}

// --- internal ---

/** Names of columns with JSON, in any table. */
const JSON_COLUMNS: ReadonlySet<string> = new Set([
  "attributes",
  "body",
  "context_parts",
  "histogram",
  "memo",
  "pipeline",
  "record",
  "reported",
  "repository",
  "resource",
  "sent_histogram",
  "totals",
]);

/** A damaged store, open for reading. */
interface DamagedStore {
  readonly prepare: Database["prepare"];
  /** Whether invalid text was read since the last call. */
  readonly hasBroken: () => boolean;
  readonly close: () => void;
}

/** @returns `undefined` if not even its list of tables can be read */
function openDamaged(path: string): DamagedStore | undefined {
  let raw: Libsql.Database | undefined;
  try {
    // Read-only, so that SQLite does not repair it
    raw = new Libsql(`${pathToFileURL(path).href}?mode=ro`, {});
    // Makes SQLite accept a file that is shorter than stated in its header
    raw.exec("PRAGMA writable_schema = ON");
    const check = preparerOf(raw);
    checkNames(check.prepare);
    check.release();
    const opened = raw;
    let isBroken = false;
    const onNoText = (bytes: Buffer): string => {
      const text = withoutHalves(bytes);
      if (text === undefined) isBroken = true;
      return text ?? "";
    };
    const { prepare, release } = preparerOf(raw, undefined, onNoText);
    return {
      prepare,
      hasBroken() {
        const was = isBroken;
        isBroken = false;
        return was;
      },
      close() {
        opened.close();
        release();
      },
    };
  } catch {
    raw?.close();
    return undefined;
  }
}

/** Copies rows from the front until a page cannot be read, then from the back. */
function copyTable(
  from: DamagedStore,
  db: Database,
  table: string,
): { readonly rows: number; readonly isWhole: boolean } {
  let rows = 0;
  let isWhole = true;
  const all = columnsOf(db, table);
  const names = sharedNames(from, all, table);
  if (names.length === 0) return { rows, isWhole: false };
  const named = all.filter(({ key }) => key > 0).sort((a, b) => a.key - b.key);
  // A table without a primary key is copied with its rowids, so that a row that is read from both ends is inserted once
  const keys = named.length > 0 ? named : [{ name: "rowid" }];
  if (named.length === 0) names.push("rowid");
  const insert = db.prepare(
    `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")}) ON CONFLICT DO NOTHING`,
  );
  const copy = (direction: "ASC" | "DESC"): boolean => {
    const order = keys.map(({ name }) => `${name} ${direction}`).join(", ");
    try {
      const read = from.prepare(`SELECT ${names.join(", ")} FROM ${table} NOT INDEXED ORDER BY ${order}`);
      for (const row of read.each()) {
        const values = names.map((name): Value => row[name] ?? null);
        const added = !from.hasBroken() && isSound(row) ? inserted(() => insert.run(...values).changes) : undefined;
        if (added === undefined) isWhole = false;
        else rows += added;
      }
      return true;
    } catch (error) {
      if (error instanceof StoreError) throw error;
      return false;
    }
  };
  if (!copy("ASC")) {
    isWhole = false;
    copy("DESC");
  }
  return { rows, isWhole };
}

/** @returns `undefined` for a row with invalid values */
function inserted(work: () => number): number | undefined {
  try {
    return work();
  } catch (error) {
    if (/^SQLITE_(CONSTRAINT|MISMATCH|RANGE|TOOBIG)/.test(codeAndText(error).code)) return undefined;
    throw error;
  }
}

const isSound = (row: Row): boolean =>
  Object.entries(row).every(([name, value]) => {
    if (!JSON_COLUMNS.has(name) || value === null) return true;
    try {
      if (value instanceof Uint8Array) return decodePackedFacts(value).every(hasTimes);
      JSON.parse(String(value));
      return true;
    } catch {
      return false;
    }
  });

/** Sums cannot be computed from a fact without a time. */
const hasTimes = (fact: TranscriptEntry): boolean =>
  Number.isFinite(fact.timeMs) && (fact.kind !== "model_call" || Number.isFinite(fact.endMs));

/** Columns that both stores have: an earlier version's store lacks newer ones. */
function sharedNames(from: DamagedStore, columns: readonly { readonly name: string }[], table: string): string[] {
  try {
    const there = new Set(columnsOf(from, table).map(({ name }) => name));
    return columns.map(({ name }) => name).filter((name) => there.has(name));
  } catch {
    return [];
  }
}

/** Deletes rows whose parent row could not be read, and the rows that refer to those. @returns the tables that lost rows */
function dropOrphans(db: Database, tables: readonly string[]): ReadonlySet<string> {
  const lost = new Set<string>();
  for (let changes = 1; changes > 0; ) {
    changes = 0;
    for (const table of tables) {
      for (const row of db.prepare(`SELECT * FROM pragma_foreign_key_list('${table}')`).all()) {
        const [parent, column] = [String(row["table"]), String(row["from"])];
        const key = row["to"] === null ? "rowid" : String(row["to"]);
        const orphans = `${column} IS NOT NULL AND ${column} NOT IN (SELECT ${key} FROM ${parent})`;
        // A subagent's session without its parent stays, as an ordinary session
        const sql =
          parent === table
            ? `UPDATE ${table} SET ${column} = NULL WHERE ${orphans}`
            : `DELETE FROM ${table} WHERE ${orphans}`;
        const gone = db.prepare(sql).run().changes;
        if (gone > 0) lost.add(table);
        changes += gone;
      }
    }
  }
  return lost;
}
