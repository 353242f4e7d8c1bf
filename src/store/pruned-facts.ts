import { createHash } from "node:crypto";
import type { Database } from "./database.ts";

/**
 * Facts that were settled and then pruned. Each leaves a digest of 52 bits: enough to recognise the fact, too little to reveal it.
 * Among a million digests, one in four thousand million new facts is mistaken for an old one and not counted.
 */
type PrunedKind = "event" | "entry" | "owner" | "increment" | "span";

/** Whether anything was ever pruned; if not, no lookup is needed. */
export const hasPrunedFacts = (db: Database): boolean =>
  db.prepare("SELECT 1 FROM forgotten LIMIT 1").get() !== undefined;

/** Whether a fact was pruned. @param key identifies the fact; includes the session if it is unique only within one */
export const isPrunedFact = (db: Database, kind: PrunedKind, ...key: readonly string[]): boolean =>
  db.prepare("SELECT 1 FROM forgotten WHERE digest = ?").get(digestOf(kind, key)) !== undefined;

/** Stores the digest of a fact that is about to be deleted. */
export function markPruned(db: Database, kind: PrunedKind, ...key: readonly string[]): void {
  db.prepare("INSERT INTO forgotten (digest) VALUES (?) ON CONFLICT DO NOTHING").run(digestOf(kind, key));
}

/** A number of 52 bits. Integers in JavaScript are exact up to 2^53. */
export const digestOf = (kind: PrunedKind, key: readonly string[]): number =>
  Number.parseInt(
    createHash("sha256")
      .update(JSON.stringify([kind, ...key]))
      .digest("hex")
      .slice(0, HEX_DIGITS),
    16,
  );

// --- internal ---

const HEX_DIGITS = 13;
