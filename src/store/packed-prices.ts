import type { PackedUsage } from "#core/model/packed.ts";
import type { Database } from "./database.ts";

/** The sums of a packed session's calls as they are stored. */
export const packedUsage = (db: Database, session: number): readonly PackedUsage[] =>
  db
    .prepare("SELECT * FROM packed_usage WHERE session = ?")
    .all(session)
    .map((row) => Object.values(row).slice(1) as unknown as PackedUsage);

/** Packed sessions with calls that report their tokens and have no price, or only a part of it. */
export const packedWithoutPrice = (db: Database): readonly number[] =>
  db
    .prepare("SELECT DISTINCT session FROM packed_usage WHERE unpriced > without_usage")
    .all()
    .map((row) => Number(row["session"]));
