import type { Database } from "./database.ts";
import { readMeta, writeMeta } from "./meta.ts";

// Events for which not even an empty file could be created: hooks count them in a file that only grows. See `LOST_COUNT`.

/** How many of them the store has counted. */
export const unwrittenCounted = (db: Database): number => Number(readMeta(db, UNWRITTEN) ?? "0");

export const setUnwrittenCounted = (db: Database, total: number): void => writeMeta(db, UNWRITTEN, String(total));

// --- internal ---

const UNWRITTEN = "intake.unwritten_total";
