import { basename } from "node:path";
import type Libsql from "libsql";
import type { FaultPoint } from "#kit/fault-points.ts";
import { suggest } from "#kit/suggest.ts";
import { type OnInvalidText, safeSelect, withoutHalves } from "#kit/texts-as-bytes.ts";
import { OLDEST_VERSION, SCHEMA_VERSION } from "./schema-version.const.ts";

/** A value of a column. Integers up to 2^53 are exact. */
export type Value = string | number | null | Uint8Array;
export type Row = Readonly<Record<string, Value>>;

/** A prepared statement. */
export interface Statement {
  run(...values: readonly Value[]): { readonly changes: number };
  get(...values: readonly Value[]): Row | undefined;
  all(...values: readonly Value[]): readonly Row[];
  /** Row by row, for results of millions of rows. The statement must not be used otherwise until the last row is read. */
  each(...values: readonly Value[]): Generator<Row>;
}

/** A connection to store.db. SQLite's errors about the file are thrown as StoreError by every statement. */
export interface Database {
  prepare(sql: string): Statement;
  /**
   * All or nothing; nested calls join the outer one.
   *
   * @param step the fault point of the commit. @default "commit.note"
   */
  transaction<T>(work: () => T, step?: FaultPoint): T;
  close(): void;
  /** After `close`: lets the garbage collector have the statements, without which libsql keeps the files open. See `whenReleased`. */
  release(): void;
}

export class StoreError extends Error {
  readonly code: "E_STORE_NEWER" | "E_STORE_OLDER" | "E_STORE_DAMAGED" | "E_STORE";
  constructor(code: StoreError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreError";
    this.code = code;
  }
}

/** Functions that run the calls of a statement. */
interface StatementHooks {
  readonly read: <T>(work: () => T) => T;
  readonly write: <T>(work: () => T) => T;
}

/**
 * Prepares each statement once per connection. All rows are read through `safeSelect`, so that damaged text does not end the
 * process.
 *
 * @param onNoText called for text that is not UTF-8; returns its replacement. @default throws it as damage
 */
export function preparerOf(
  raw: Libsql.Database,
  around: StatementHooks = NO_HOOKS,
  onNoText: OnInvalidText = damagedText,
): Pick<Database, "prepare" | "release"> {
  const prepared = new Map<string, Statement>();
  const native: { statement: NativeStatement }[] = [];
  const prepare = (sql: string): Statement => {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const own = around.read(() => prepareSafely(raw, sql, onNoText));
    const { read } = own;
    native.push(own);
    const made: Statement = {
      // One array: the library would create two otherwise
      run: (...values) => around.write(() => own.statement.run(values) as { changes: number }),
      get: (...values) =>
        around.read(() => {
          const row = own.statement.get(values) as Record<string, Value> | undefined;
          return row === undefined ? undefined : read(row);
        }),
      all: (...values) => around.read(() => (own.statement.all(values) as Record<string, Value>[]).map(read)),
      *each(...values) {
        const rows = around.read(() => own.statement.iterate(values) as IterableIterator<Record<string, Value>>);
        for (;;) {
          const next = around.read(() => {
            const { done, value } = rows.next();
            return done === true ? undefined : read(value);
          });
          if (next === undefined) return;
          yield next;
        }
      },
    };
    prepared.set(sql, made);
    return made;
  };
  const release = (): void => {
    // Others may still have the statements, but no longer libsql's part of them
    for (const own of native) own.statement = RELEASED;
    native.length = 0;
    prepared.clear();
  };
  return { prepare, release };
}

/**
 * Reads the names of tables and columns, before anything else: libsql also ends the process if the name of a column is not
 * UTF-8, and names cannot be read as bytes.
 *
 * @throws SQLite's error if the schema is damaged
 */
export const checkNames = (prepare: Database["prepare"]): void => {
  prepare("SELECT name, sql FROM sqlite_schema").all();
};

/**
 * Throws if a store has a schema that this version can neither read nor bring up to date: a later one, or one from before the first
 * release.
 *
 * @param version `user_version`, not 0
 */
export function checkSchema(path: string, version: number): void {
  const name = JSON.stringify(path);
  if (version > SCHEMA_VERSION)
    throw new StoreError(
      "E_STORE_NEWER",
      `${name} was written by a later version of openhook-otel (schema ${version}, this one knows ${SCHEMA_VERSION}): update openhook-otel`,
    );
  if (version < OLDEST_VERSION)
    throw new StoreError(
      "E_STORE",
      `${name} has schema ${version}, from before the first release of openhook-otel, and cannot be brought up to date: move it and ` +
        `the files beside it whose names begin with ${basename(path)} away; then ${suggest("import")} reads the agents' transcripts again`,
    );
}

/** A StoreError if SQLite reports that the file is damaged or no database; `undefined` for any other error. */
export function damagedError(path: string, error: unknown): StoreError | undefined {
  const { code, text } = codeAndText(error);
  return /^SQLITE_(NOTADB|CORRUPT)/.test(code) || /not a database|malformed/.test(text)
    ? damagedStore(path, text, { cause: error })
    : undefined;
}

export const damagedStore = (path: string, what: string, options?: ErrorOptions): StoreError =>
  new StoreError("E_STORE_DAMAGED", `${JSON.stringify(path)} is damaged: ${what}`, options);

/** A StoreError if SQLite's error concerns the disk, the folder or another process; `undefined` for any other error. */
export function unusableError(doing: string, path: string, error: unknown): StoreError | undefined {
  const { code, text } = codeAndText(error);
  if (!/^SQLITE_(FULL|IOERR|CANTOPEN|READONLY|PERM|BUSY|LOCKED|NOMEM)/.test(code)) return undefined;
  const advice = "check that its folder can be written and the disk is not full";
  return new StoreError("E_STORE", `cannot ${doing} ${JSON.stringify(path)}: ${text}; ${advice}`, { cause: error });
}

/** Code and message of anything that was thrown. The code of SQLite's errors begins with `SQLITE_`, however libsql reports them. */
export function codeAndText(error: unknown): { readonly code: string; readonly text: string } {
  const text = error instanceof Error ? error.message : String(error);
  const unopened = UNOPENED.exec(text)?.[1];
  if (unopened !== undefined) return { code: primaryCode(unopened), text: "unable to open database file" };
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const unknown = UNKNOWN_CODE.exec(code)?.[1];
  return { code: unknown === undefined ? code : primaryCode(unknown), text };
}

// --- internal ---

/** For this error libsql 0.5.29 has no code, only a number in its message. */
const UNOPENED = /^ConnectionFailed\(.*: (\d+)"\)$/s;
/** It also lacks names for some of SQLite's codes: 1544 is "read-only, because the directory is". */
const UNKNOWN_CODE = /^UNKNOWN_SQLITE_ERROR_(\d+)$/;

/** The kind of error is in the low byte of SQLite's extended result codes (sqlite.org/rescode.html). */
const primaryCode = (code: string): string => `SQLITE_${PRIMARY.get(Number(code) & 0xff) ?? `ERROR_${code}`}`;

const PRIMARY: ReadonlyMap<number, string> = new Map([
  [3, "PERM"],
  [5, "BUSY"],
  [6, "LOCKED"],
  [7, "NOMEM"],
  [8, "READONLY"],
  [10, "IOERR"],
  [11, "CORRUPT"],
  [13, "FULL"],
  [14, "CANTOPEN"],
  [23, "AUTH"],
  [26, "NOTADB"],
]);

type NativeStatement = Pick<Libsql.Statement, "run" | "get" | "all" | "iterate">;

const released = (): never => {
  throw new Error("the connection was closed");
};
const RELEASED: NativeStatement = { run: released, get: released, all: released, iterate: released };

const NO_HOOKS: StatementHooks = { read: (work) => work(), write: (work) => work() };

function prepareSafely(
  raw: Libsql.Database,
  sql: string,
  onNoText: OnInvalidText,
): { statement: NativeStatement; readonly read: (row: Record<string, Value>) => Row } {
  const statement = raw.prepare(sql);
  const names = statement.reader ? statement.columns().map(({ name }) => name) : [];
  const safe = safeSelect(sql, names);
  const read = (row: Record<string, Value>): Row => {
    safe?.row(row, onNoText);
    return row;
  };
  return { statement: safe === undefined ? statement : raw.prepare(safe.sql), read };
}

/** In an intact store the only invalid text is half a surrogate pair, which is replaced. */
function damagedText(bytes: Buffer): string {
  const text = withoutHalves(bytes);
  if (text === undefined)
    throw Object.assign(new Error("it contains text that is not valid UTF-8"), { code: "SQLITE_CORRUPT_TEXT" });
  return text;
}
