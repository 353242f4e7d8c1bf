import { renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { appendOwn, readOwn } from "#kit/own-file.ts";
import type { Database } from "./database.ts";
import { deliveredLine } from "./delivered-line.lazy.ts";
import { readMeta, removeMeta, writeMeta } from "./meta.ts";
import { digestOf } from "./pruned-facts.ts";
import { createFile } from "./spare-files.ts";
import { setUnwrittenCounted, unwrittenCounted } from "./unwritten.ts";

// What backends have accepted is also written beside the store, to `delivered.log`. A store that was put back from a backup knows
// neither its later sums nor which facts are in them; this file does.

/** One delivery of metrics. */
interface DeliveredRecord {
  /** The store's number of deliveries after this one. */
  readonly generation: number;
  /** That number in the record before this one. */
  readonly after: number;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** Everything that was counted before it is delivered. */
  readonly isComplete: boolean;
  /** Events without a file that were counted by then. */
  readonly unwritten: number;
  /** Digests of the facts that were counted since the last complete delivery. */
  readonly counted: readonly number[];
  /** Some of these digests were forgotten before the delivery, see `limitCountedLately`. */
  readonly isPartial?: boolean | undefined;
}

export const deliveredLogOf = (storePath: string): string => join(dirname(storePath), "delivered.log");

/** How many deliveries of metrics the store knows of. */
export const generationOf = (db: Database): number => Number(readMeta(db, GENERATION) ?? "0");

/** Counts a delivery. Part of the transaction that stores what a backend accepted. */
export const raiseGeneration = (db: Database): void => writeMeta(db, GENERATION, String(generationOf(db) + 1));

/** Stores the digest of a counted fact until it is written to the file. Part of the transaction that counts it. */
export function markCountedLately(db: Database, key: string): void {
  db.prepare("INSERT INTO counted_lately (digest) VALUES (?)").run(digestOf("increment", [key]));
}

/**
 * Forgets the oldest digests that no delivery has written to the file, beyond a limit: without a backend they would grow without
 * bound. The next complete delivery says that some are missing.
 */
export function limitCountedLately(db: Database, limit = MAX_COUNTED_LATELY): void {
  // Digests are added in the order of `seq`, and removed from the oldest on
  const newest = Number(db.prepare("SELECT max(seq) AS seq FROM counted_lately").get()?.["seq"] ?? 0);
  const oldest = Number(db.prepare("SELECT min(seq) AS seq FROM counted_lately").get()?.["seq"] ?? 0);
  if (newest - oldest < limit) return;
  db.transaction(() => {
    db.prepare("DELETE FROM counted_lately WHERE seq <= ?").run(newest - limit);
    writeMeta(db, FORGOTTEN, "1");
  });
}

/**
 * Writes a delivery to the file. The store comes first, and its commits must be in its main file: if this fails, or the process is
 * killed before it, the store is newer than the file, which means nothing.
 *
 * @param delivery `isComplete`: everything that was counted is delivered
 * @throws what the file system throws; the next delivery then writes these facts too
 */
export function writeDelivered(
  db: Database,
  storePath: string,
  { isComplete, atMs }: Pick<DeliveredRecord, "isComplete" | "atMs">,
): void {
  const path = deliveredLogOf(storePath);
  const rows = isComplete ? db.prepare("SELECT seq, digest FROM counted_lately ORDER BY seq").all() : [];
  const line = {
    generation: generationOf(db),
    after: Number(readMeta(db, WRITTEN) ?? "0"),
    atMs,
    isComplete,
    unwritten: unwrittenCounted(db),
    ...(isComplete && readMeta(db, FORGOTTEN) !== undefined && { isPartial: true }),
    counted: rows.map((row) => Number(row["digest"]).toString(16).padStart(HEX_DIGITS, "0")).join(""),
  };
  createFile(path, dirname(path));
  if (statSync(path).size > MAX_BYTES) renameSync(path, `${path}.1`);
  // A full disk can leave half a line: each one begins on a new line
  appendOwn(path, `\n${JSON.stringify(line)}`);
  db.transaction(() => {
    writeMeta(db, WRITTEN, String(line.generation));
    db.prepare("DELETE FROM counted_lately WHERE seq <= ?").run(Number(rows.at(-1)?.["seq"] ?? 0));
    if (isComplete) removeMeta(db, FORGOTTEN);
  });
}

/**
 * Deliveries that a store of this generation does not know of, oldest first. Empty if the file cannot be read: then nothing is
 * known.
 */
export function deliveredAfter(storePath: string, generation: number): readonly DeliveredRecord[] {
  const path = deliveredLogOf(storePath);
  return [`${path}.1`, path]
    .flatMap((one) => readLog(one, generation))
    .filter((record) => record.generation > generation);
}

/** Whether a fact was counted in a part of the store's history that it lost, and delivered. */
export const isCountedBefore = (db: Database, key: string): boolean =>
  db.prepare("SELECT 1 FROM counted_before WHERE digest = ?").get(digestOf("increment", [key])) !== undefined;

/** Whether there is any such fact; if not, no lookup is needed. */
export const hasCountedBefore = (db: Database): boolean =>
  db.prepare("SELECT 1 FROM counted_before LIMIT 1").get() !== undefined;

/** Stores that these deliveries happened. Call it inside a transaction. */
export function adoptDelivered(db: Database, records: readonly DeliveredRecord[]): void {
  const add = db.prepare("INSERT INTO counted_before (digest) VALUES (?) ON CONFLICT DO NOTHING");
  for (const digest of records.flatMap(({ counted }) => counted)) add.run(digest);
  const newest = Math.max(generationOf(db), ...records.map(({ generation }) => generation));
  setUnwrittenCounted(db, Math.max(unwrittenCounted(db), ...records.map(({ unwritten }) => unwritten)));
  // Newer than all of them: the same backup can be put back again
  writeMeta(db, GENERATION, String(newest + 1));
  writeMeta(db, WRITTEN, String(newest));
}

// --- internal ---

const GENERATION = "delivered.generation";
/** The generation of the last record in the file. */
const WRITTEN = "delivered.written";
/** Set while digests were forgotten that the next complete delivery should have. */
const FORGOTTEN = "delivered.forgotten";
/** Months without a backend; about 2 MB. */
const MAX_COUNTED_LATELY = 100_000;
/** Of a digest; see `digestOf`. */
const HEX_DIGITS = 13;
/** Two files of this size hold some 600,000 facts: months of heavy use. */
const MAX_BYTES = 4 * 1024 * 1024;

/** How each line begins. */
const LINE_START = '\n{"generation":';

function readLog(path: string, generation: number): readonly DeliveredRecord[] {
  let text: string;
  try {
    text = readOwn(path).toString("utf8");
  } catch {
    return [];
  }
  // Almost always the store knows the last line, and the file can be large
  const last = Number.parseInt(text.slice(text.lastIndexOf(LINE_START) + LINE_START.length), 10);
  if (last <= generation) return [];
  return text.split("\n").flatMap((line) => {
    const parsed = deliveredLine(line);
    if (parsed === undefined) return [];
    const digests = parsed.counted.match(/.{13}/g) ?? [];
    return [{ ...parsed, counted: digests.map((digest) => Number.parseInt(digest, 16)) }];
  });
}
