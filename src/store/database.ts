import { chmodSync, existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import Libsql from "libsql";
import { MIGRATIONS } from "./migrations.ts";

/** What a column can hold. Whole numbers up to 2^53 come back as they went in. */
export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

/** A prepared statement. */
export interface Statement {
  run(...values: readonly Value[]): { readonly changes: number };
  get(...values: readonly Value[]): Row | undefined;
  all(...values: readonly Value[]): readonly Row[];
}

/** A connection to store.db. */
export interface Database {
  prepare(sql: string): Statement;
  /** All or nothing; nested calls join the outer one. */
  transaction<T>(work: () => T): T;
  close(): void;
}

export class StoreError extends Error {
  readonly code: "E_STORE_NEWER" | "E_STORE_DAMAGED" | "E_STORE";
  constructor(code: StoreError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreError";
    this.code = code;
  }
}

/**
 * Opens store.db, making or upgrading it as needed. WAL, every commit on disk before it returns, mode 0600.
 *
 * @throws StoreError `E_STORE_NEWER` when a later version of this program has written it, `E_STORE_DAMAGED` when it is
 *         no database, `E_STORE` for anything the file system says
 */
export function openDatabase(path: string): Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let raw: Libsql.Database;
  try {
    raw = new Libsql(path, {});
    raw.exec(
      "PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON",
    );
  } catch (error) {
    throw storeError(path, error);
  }
  try {
    for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600);
    const database = wrap(raw);
    migrate(database, raw, path);
    return database;
  } catch (error) {
    raw.close();
    throw error instanceof StoreError ? error : storeError(path, error);
  }
}

/** Moves a damaged store out of the way; nothing of it is deleted. @returns where it lies now */
export function setAside(path: string, nowMs: number): string {
  const aside = `${path}.damaged-${new Date(nowMs).toISOString().replaceAll(":", "")}`;
  for (const suffix of ["", "-wal", "-shm"]) {
    if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${aside}${suffix}`);
  }
  return aside;
}

// --- internal ---

function wrap(raw: Libsql.Database): Database {
  const prepared = new Map<string, Statement>();
  let depth = 0;
  return {
    prepare(sql) {
      const known = prepared.get(sql);
      if (known !== undefined) return known;
      const statement = raw.prepare(sql);
      const made: Statement = {
        run: (...values) => statement.run(...values) as { changes: number },
        get: (...values) => statement.get(...values) as Row | undefined,
        all: (...values) => statement.all(...values) as Row[],
      };
      prepared.set(sql, made);
      return made;
    },
    transaction(work) {
      if (depth > 0) return work();
      raw.exec("BEGIN IMMEDIATE");
      depth++;
      try {
        const result = work();
        raw.exec("COMMIT");
        return result;
      } catch (error) {
        try {
          raw.exec("ROLLBACK");
        } catch {
          // The commit's own error is the one to tell; SQLite has rolled back by itself
        }
        throw error;
      } finally {
        depth--;
      }
    },
    close: () => raw.close(),
  };
}

function migrate(database: Database, raw: Libsql.Database, path: string): void {
  const version = (): number => Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
  if (version() > MIGRATIONS.length) {
    throw new StoreError(
      "E_STORE_NEWER",
      `${JSON.stringify(path)} was written by a later version of openhook-otel (schema ${version()}, this one knows ${MIGRATIONS.length}): update openhook-otel`,
    );
  }
  database.transaction(() => {
    for (const sql of MIGRATIONS.slice(version())) raw.exec(sql);
    raw.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
  });
}

function storeError(path: string, error: unknown): StoreError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const text = error instanceof Error ? error.message : String(error);
  const damaged = /SQLITE_(NOTADB|CORRUPT)/.test(code) || /not a database|malformed/.test(text);
  return new StoreError(
    damaged ? "E_STORE_DAMAGED" : "E_STORE",
    damaged
      ? `${JSON.stringify(path)} is damaged: ${text}`
      : `cannot open ${JSON.stringify(path)}: ${text}; check that its folder can be written and the disk is not full`,
    { cause: error },
  );
}
