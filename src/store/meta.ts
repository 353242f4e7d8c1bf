import type { Database } from "./database.ts";

/** A value that the program stored for later runs. @returns `undefined` if it was never written */
export function readMeta(db: Database, key: string): string | undefined {
  const value = db.prepare("SELECT value FROM meta WHERE key = ?").get(key)?.["value"];
  return typeof value === "string" ? value : undefined;
}

/** All keys that begin with a prefix. */
export const metaKeys = (db: Database, prefix: string): readonly string[] =>
  db
    .prepare("SELECT key FROM meta WHERE substr(key, 1, length(?1)) = ?1")
    .all(prefix)
    .map((row) => String(row["key"]));

/** Stores a value under a key, instead of the former one. */
export function writeMeta(db: Database, key: string, value: string): void {
  db.prepare("INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value").run(
    key,
    value,
  );
}

/** Removes a value; does nothing if there is none. */
export function removeMeta(db: Database, key: string): void {
  db.prepare("DELETE FROM meta WHERE key = ?").run(key);
}

/** Adds to a stored number; one that was never written counts as 0. */
export function addToMeta(db: Database, key: string, amount: number): void {
  if (amount !== 0) writeMeta(db, key, String(Number(readMeta(db, key) ?? "0") + amount));
}
