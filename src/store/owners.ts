import type { TranscriptEntry } from "#core/model/transcript.ts";
import { commonKey, otherKey } from "#core/rules/keys.ts";
import { moveContent } from "./content.ts";
import type { Database } from "./database.ts";
import { isPrunedFact } from "./pruned-facts.ts";
import { texts } from "./rows.ts";
import type { StoredSession } from "./sessions.ts";

// Records whose id is unique across sessions: forks and resumed sessions contain copies of them. One session owns each record.

/** Number of the session that owns a record; `undefined`: none, or a packed one, which are not searched. */
export function ownerOf(db: Database, source: string, globalKey: string): number | undefined {
  const row = db.prepare("SELECT session FROM owners WHERE source = ? AND global_key = ?").get(source, globalKey);
  return row === undefined ? undefined : Number(row["session"]);
}

/** The key under which an answer is owned, if one of its records lacks the request. Own keys are not looked up. */
export function ownedKeyOf(db: Database, source: string, globalKey: string): string | undefined {
  const other = otherKey(globalKey);
  if (other === undefined) return undefined;
  if (!other.endsWith("*")) return ownerOf(db, source, other) === undefined ? undefined : other;
  return texts(
    db,
    "SELECT global_key FROM owners WHERE source = ? AND global_key > ? AND global_key < ?",
    source,
    globalKey,
    `${globalKey.slice(0, -1)};`,
  ).find((key) => commonKey(key) === other);
}

/** All owned records of sessions that are not packed, in batches. */
export function* owners(
  db: Database,
): Generator<readonly { readonly source: string; readonly globalKey: string }[], void, void> {
  const some = db.prepare(
    "SELECT source, global_key FROM owners WHERE (source, global_key) > (?, ?) ORDER BY source, global_key LIMIT 5000",
  );
  for (let last = { source: "", globalKey: "" }; ; ) {
    const found = some
      .all(last.source, last.globalKey)
      .map((row) => ({ source: String(row["source"]), globalKey: String(row["global_key"]) }));
    if (found.length > 0) yield found;
    const end = found.at(-1);
    if (end === undefined) return;
    last = end;
  }
}

/**
 * Makes a session the owner of a record, or finds that another one owns it: the session that began first owns it as long as it is
 * not settled; a settled record stays where it was counted.
 *
 * @param mayBePruned whether anything was ever pruned
 * @returns whether the session owns the record, so that its entry is stored there; and the entry of the session that
 *          owned it before
 */
export function claimRecord(
  db: Database,
  session: StoredSession,
  { key, globalKey }: Pick<TranscriptEntry, "key"> & { readonly globalKey: string },
  mayBePruned: boolean,
): { readonly isOwn: boolean; readonly moved?: TranscriptEntry } {
  const owner = db
    .prepare(
      `SELECT o.session, s.first_ms FROM owners o JOIN sessions s ON s.id = o.session
       WHERE o.source = ? AND o.global_key = ?`,
    )
    .get(session.source, globalKey);
  if (owner === undefined) {
    // A copy, in a fork or a resumed session, of a record whose session was pruned
    if (mayBePruned && isPrunedFact(db, "owner", session.source, globalKey)) return { isOwn: false };
    db.prepare("INSERT INTO owners (source, global_key, session) VALUES (?, ?, ?)").run(
      session.source,
      globalKey,
      session.id,
    );
    return { isOwn: true };
  }
  if (owner["session"] === session.id) return { isOwn: true };
  if (Number(owner["first_ms"]) <= session.firstMs) return { isOwn: false };
  const moved = db
    .prepare("DELETE FROM entries WHERE session = ? AND key = ? AND settled = 0 RETURNING body")
    .get(Number(owner["session"]), key);
  if (moved === undefined) return { isOwn: false };
  moveContent(db, Number(owner["session"]), session.id, key);
  db.prepare("UPDATE owners SET session = ? WHERE source = ? AND global_key = ?").run(
    session.id,
    session.source,
    globalKey,
  );
  return { isOwn: true, moved: JSON.parse(String(moved["body"])) as TranscriptEntry };
}
