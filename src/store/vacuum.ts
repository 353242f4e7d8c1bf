import { statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { type Database, filesOf } from "./database.ts";

/** Pages of the store's main file. */
interface Space {
  readonly pageBytes: number;
  readonly pages: number;
  /** Unused pages; SQLite uses them before the file grows. */
  readonly freePages: number;
}

export const spaceOf = (db: Database): Space => ({
  pageBytes: pragma(db, "page_size"),
  pages: pragma(db, "page_count"),
  freePages: pragma(db, "freelist_count"),
});

/**
 * Releases free pages to the file system in small steps, until none is left or the time is up.
 *
 * @param untilMs by `performance.now()`
 * @returns by how many bytes the file shrank
 */
export function releasePages(db: Database, untilMs: number): number {
  const before = spaceOf(db);
  for (let left = before.freePages; left > 0 && performance.now() < untilMs; left = pragma(db, "freelist_count")) {
    db.prepare(`PRAGMA incremental_vacuum(${PAGES_AT_ONCE})`).all();
  }
  return (before.pages - pragma(db, "page_count")) * before.pageBytes;
}

/**
 * Rewrites the whole store without free pages. Takes about a second per 100 MB, and blocks other writers.
 *
 * @returns by how many bytes the file shrank, or a text with the reason why it was not rewritten
 */
export function vacuum(db: Database, path: string): number | string {
  const before = spaceOf(db);
  const wanted = 2 * (before.pages - before.freePages) * before.pageBytes;
  const { bavail, bsize } = statfsSync(dirname(path));
  if (bavail * bsize < wanted + SPARE_BYTES) {
    return `rewriting it needs ${Math.ceil((wanted + SPARE_BYTES) / 1e6)} MB of free disk space, there are ${Math.floor((bavail * bsize) / 1e6)} MB`;
  }
  db.prepare("VACUUM").all();
  return (before.pages - pragma(db, "page_count")) * before.pageBytes;
}

/** The store's size on disk in bytes, including its log; 0 if it cannot be read. Never throws. */
export const storeBytes = (path: string): number => filesOf(path).reduce((sum, file) => sum + bytesOf(file), 0);

// --- internal ---

/** 4 MB; about ten milliseconds. */
const PAGES_AT_ONCE = 1_000;
/** Disk space that stays free for others. */
const SPARE_BYTES = 100_000_000;

const pragma = (db: Database, name: string): number => Number(db.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);

function bytesOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}
