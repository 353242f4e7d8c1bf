import { randomBytes, randomUUID } from "node:crypto";
import {
  type AuditDraft,
  type AuditHead,
  type AuditLink,
  type AuditPart,
  linkAfter,
  NO_RECORDS,
} from "#core/audit/record.ts";
import type { Database } from "./database.ts";
import { readMeta, writeMeta } from "./meta.ts";
import { insertRow } from "./rows.ts";

// The audit trail: rows are only added. Parts of rows, and rows from the beginning on, are removed only together with a new record that
// says so

/** Where the chain ends: as it was noted, or at the last row, if rows of a damaged store were saved without the note. */
export function auditHead(db: Database): AuditHead {
  const noted = JSON.parse(readMeta(db, HEAD) ?? JSON.stringify(NO_RECORDS)) as AuditHead;
  const last = db.prepare("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1").get();
  return last === undefined || Number(last["seq"]) <= noted.seq
    ? noted
    : { seq: Number(last["seq"]), hash: String(last["hash"]) };
}

/** The id of the chain, random; `undefined` before its first record. */
export const auditChain = (db: Database): string | undefined => readMeta(db, CHAIN);

/**
 * Adds records at the end of the chain. An action whose record was added before is left out. Call it inside the transaction that settles
 * the actions.
 *
 * @param nowMs milliseconds since the epoch
 */
export function appendAudit(db: Database, drafts: readonly AuditDraft[], nowMs: number): void {
  const before = auditHead(db);
  const known = db.prepare("SELECT 1 FROM audit WHERE key = ?");
  let head: AuditHead = before;
  for (const draft of drafts) {
    const { agent, session, call } = draft.record;
    const key = call === undefined ? null : JSON.stringify([agent, session, call]);
    if (key !== null && known.get(key) !== undefined) continue;
    const link = linkAfter(head, draft, () => randomBytes(16).toString("base64url"));
    insertRow(db, "audit", { ...link, key, time_ms: nowMs }, "");
    head = { seq: link.seq, hash: link.hash };
  }
  if (head === before) return;
  writeMeta(db, HEAD, JSON.stringify(head));
  if (auditChain(db) === undefined) writeMeta(db, CHAIN, randomUUID());
}

/** All records of the chain, in its order. */
export const auditLinks = (db: Database): readonly AuditLink[] =>
  db
    .prepare("SELECT seq, record, names, texts, hash FROM audit ORDER BY seq")
    .all()
    .map((row) => ({
      seq: Number(row["seq"]),
      record: String(row["record"]),
      names: row["names"] === null ? null : String(row["names"]),
      texts: row["texts"] === null ? null : String(row["texts"]),
      hash: String(row["hash"]),
    }));

/**
 * Deletes and overwrites parts of records that a capture level forbids now. Call it inside a transaction.
 *
 * @param session absent: of all sessions
 * @param reason for the record that says so
 */
export function eraseAudit(
  db: Database,
  parts: readonly AuditPart[],
  nowMs: number,
  reason: string,
  session?: { readonly source: string; readonly sessionId: string },
): boolean {
  const kept = parts.map((part) => `${part} IS NOT NULL`).join(" OR ");
  const [ofOne, values] =
    session === undefined
      ? ["", []]
      : [
          " AND json_extract(record, '$.agent') = ? AND json_extract(record, '$.session') = ?",
          [session.source, session.sessionId],
        ];
  if (db.prepare(`SELECT 1 FROM audit WHERE (${kept})${ofOne} LIMIT 1`).get(...values) === undefined) return false;
  db.prepare("PRAGMA secure_delete = ON").get();
  const to = parts.map((part) => `${part} = NULL`).join(", ");
  db.prepare(`UPDATE audit SET ${to} WHERE (${kept})${ofOne}`).run(...values);
  const erased = {
    parts,
    ...(session !== undefined && { session: { agent: session.source, id: session.sessionId } }),
    reason,
  };
  appendAudit(db, [{ record: { action: "erasure", time: new Date(nowMs).toISOString(), erased } }], nowMs);
  return true;
}

/** Removes the records from the beginning on that were added before a time. A checkpoint says which were removed. */
export function pruneAudit(db: Database, beforeMs: number, nowMs: number): void {
  db.transaction(() => {
    const row = db
      .prepare(
        `SELECT seq, hash FROM audit WHERE seq < coalesce((SELECT min(seq) FROM audit WHERE time_ms >= ?1), 9e15)
           AND time_ms < ?1 ORDER BY seq DESC LIMIT 1`,
      )
      .get(beforeMs);
    if (row === undefined) return;
    const removed = { seq: Number(row["seq"]), hash: String(row["hash"]) };
    // A checkpoint that is old itself is not removed for another one
    const { n } =
      db.prepare("SELECT count(*) AS n FROM audit WHERE seq <= ? AND key IS NOT NULL").get(removed.seq) ?? {};
    if (n === 0) return;
    db.prepare("DELETE FROM audit WHERE seq <= ?").run(removed.seq);
    appendAudit(db, [{ record: { action: "checkpoint", time: new Date(nowMs).toISOString(), removed } }], nowMs);
  });
}

// --- internal ---

const HEAD = "audit.head";
const CHAIN = "audit.chain";
