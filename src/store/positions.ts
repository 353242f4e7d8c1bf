import type { Offset } from "#core/model/transcript.ts";
import type { PartSize } from "#core/model/transcript-reader.ts";
import type { Database } from "./database.ts";
import { insertRows, numbers, rowOf, texts } from "./rows.ts";

/** How far a transcript file was read. */
interface Position {
  readonly offset: Offset;
  /** Of the file when it was read; `UNFINISHED`: it was not read to its end. */
  readonly sizeBytes: number;
  /** The file's modification time, in milliseconds since the epoch. */
  readonly modifiedMs: number;
}

/** The size in the position of a file that was not read to its end; no file has this size. */
export const UNFINISHED = -1;

/** @returns `undefined` for a file that was never read */
export function positionOf(db: Database, path: string): Position | undefined {
  const row = db.prepare("SELECT bytes, memo, size, modified_ms FROM positions WHERE path = ?").get(path);
  if (row === undefined) return undefined;
  return {
    offset: { bytes: Number(row["bytes"]), memo: JSON.parse(String(row["memo"])) as Offset["memo"] },
    sizeBytes: Number(row["size"]),
    modifiedMs: Number(row["modified_ms"]),
  };
}

/** Whether a session of a database was read to its end while the database had this size and time. */
export const hasReadDatabase = (db: Database, path: string, { sizeBytes, modifiedMs }: PartSize): boolean =>
  db
    .prepare("SELECT 1 FROM positions WHERE path > ? AND path < ? AND size = ? AND modified_ms = ? LIMIT 1")
    // A part's name is the path, # and the session
    .get(`${path}#`, `${path}$`, sizeBytes, modifiedMs) !== undefined;

/** The file of an agent that was modified last, of those that were read. */
export function latestFileOf(db: Database, source: string): string | undefined {
  const row = db
    .prepare(
      `SELECT p.path FROM sessions s JOIN positions p ON p.session = s.id
       WHERE s.id IN (SELECT id FROM sessions WHERE source = ? ORDER BY last_ms DESC LIMIT 5)
       ORDER BY p.modified_ms DESC LIMIT 1`,
    )
    .get(source);
  return row === undefined ? undefined : String(row["path"]);
}

/** All files of an agent that were read. */
export const sessionFilesOf = (db: Database, source: string): readonly string[] =>
  texts(
    db,
    "SELECT p.path FROM positions p JOIN sessions s ON s.id = p.session WHERE s.source = ? ORDER BY p.path",
    source,
  );

/** Whether anything was ever read of a session's transcripts. */
export const hasReadTranscript = (db: Database, sessionNumber: number): boolean =>
  db.prepare("SELECT 1 FROM positions WHERE session = ? LIMIT 1").get(sessionNumber) !== undefined;

/** The shapes of usage that a reader without knowledge of the agent recognised in a session's transcripts; it stores them in its memo. */
export const readShapes = (db: Database, sessionNumber: number): readonly string[] => [
  ...new Set(
    db
      .prepare("SELECT json_extract(memo, '$.state.shapes') AS shapes FROM positions WHERE session = ?")
      .all(sessionNumber)
      .flatMap((row) => JSON.parse(String(row["shapes"] ?? "[]")) as readonly string[]),
  ),
];

/** Numbers of the sessions with a file that was not read to its end. */
export const unfinishedSessions = (db: Database): readonly number[] =>
  numbers(db, "SELECT DISTINCT session FROM positions WHERE size = ?", UNFINISHED);

/** Stores how far one file was read. `unreadable`: lines of this read, added to those of earlier ones. */
export const setPosition = (
  db: Database,
  sessionNumber: number,
  path: string,
  position: Position,
  unreadable: number,
): void => setPositions(db, [{ sessionNumber, path, position, unreadable }]);

/** Stores how far several files were read. Call it inside a transaction. */
export const setPositions = (
  db: Database,
  files: readonly {
    readonly sessionNumber: number;
    readonly path: string;
    readonly position: Position;
    readonly unreadable: number;
  }[],
): void =>
  insertRows(
    db,
    "INSERT INTO positions (path, session, bytes, memo, size, modified_ms, unreadable) VALUES",
    rowOf(7),
    files.flatMap(({ path, sessionNumber, position: { offset, sizeBytes, modifiedMs }, unreadable }) => [
      path,
      sessionNumber,
      offset.bytes,
      JSON.stringify(offset.memo),
      sizeBytes,
      modifiedMs,
      unreadable,
    ]),
    `ON CONFLICT (path) DO UPDATE SET session = excluded.session, bytes = excluded.bytes, memo = excluded.memo,
       size = excluded.size, modified_ms = excluded.modified_ms, unreadable = unreadable + excluded.unreadable`,
  );

/** For a file that changed but contained nothing new: it is not read again until it changes once more. */
export function setPartSize(db: Database, path: string, { sizeBytes, modifiedMs }: Omit<Position, "offset">): void {
  db.prepare("UPDATE positions SET size = ?, modified_ms = ? WHERE path = ?").run(sizeBytes, modifiedMs, path);
}

/** Forgets how far a session's files were read: the next read starts from the beginning. */
export function removePositions(db: Database, sessionNumber: number): void {
  db.prepare("DELETE FROM positions WHERE session = ?").run(sessionNumber);
}
