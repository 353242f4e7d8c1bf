import { createHash } from "node:crypto";
import type { Database } from "./database.ts";

/**
 * What was settled and then pruned. Of each fact a number of 52 bits is left: enough to know it again, too little to tell
 * anything of it. Among a million of them one new fact in four thousand million is taken for an old one and not counted.
 */
export type PrunedKind = "event" | "entry" | "owner" | "increment" | "span";

/** Whether anything was ever pruned: without it nothing need be looked up. */
export const hasPrunedFacts = (db: Database): boolean =>
  db.prepare("SELECT 1 FROM forgotten LIMIT 1").get() !== undefined;

/** @param key what makes the fact this fact for ever; with the session where it is unique within one alone */
export const isPrunedFact = (db: Database, kind: PrunedKind, ...key: readonly string[]): boolean =>
  db.prepare("SELECT 1 FROM forgotten WHERE digest = ?").get(digestOf(kind, key)) !== undefined;

/** Leaves the digest of a fact that is about to be deleted. */
export function markPruned(db: Database, kind: PrunedKind, ...key: readonly string[]): void {
  db.prepare("INSERT INTO forgotten (digest) VALUES (?) ON CONFLICT DO NOTHING").run(digestOf(kind, key));
}

// --- internal ---

/** JavaScript's whole numbers end at 2^53. */
const HEX_DIGITS = 13;

const digestOf = (kind: PrunedKind, key: readonly string[]): number =>
  Number.parseInt(
    createHash("sha256")
      .update(JSON.stringify([kind, ...key]))
      .digest("hex")
      .slice(0, HEX_DIGITS),
    16,
  );
