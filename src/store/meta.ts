import type { Database } from "./database.ts";

/** A note of the program to itself. @returns `undefined` when it was never written */
export function readMeta(db: Database, key: string): string | undefined {
  const value = db.prepare("SELECT value FROM meta WHERE key = ?").get(key)?.["value"];
  return typeof value === "string" ? value : undefined;
}

export function writeMeta(db: Database, key: string, value: string): void {
  db.prepare("INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value").run(
    key,
    value,
  );
}

/** Adds to a count that `status` shows. */
export function addToMeta(db: Database, key: string, amount: number): void {
  if (amount !== 0) writeMeta(db, key, String(Number(readMeta(db, key) ?? "0") + amount));
}
