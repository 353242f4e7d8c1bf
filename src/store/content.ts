import type { ContentPart } from "#core/model/content.ts";
import type { Database } from "./database.ts";

/** A piece of content as it is stored: redacted and shortened as configured. */
interface KeptContent {
  readonly fact: string;
  readonly part: ContentPart;
  readonly piece: string;
  readonly text: string;
  /** True: the text is JSON of a value. False: it is the text itself. */
  readonly isJson: boolean;
}

/** What the audit trail needs of a call's arguments is stored beside content. It is none itself: only its `texts` are. */
export const AUDIT_PART = "audit";

/**
 * Stores a piece of content until its fact is settled; a repeated piece replaces the first one. Content is not stored for facts
 * that are settled, or that the session does not have because they are copies of another session's.
 *
 * @param isExpected the fact was not stored yet
 */
export function putContent(
  db: Database,
  sessionNumber: number,
  content: Omit<KeptContent, "part"> & { readonly part: ContentPart | typeof AUDIT_PART },
  isExpected: boolean,
): void {
  const { fact, part, piece, text, isJson } = content;
  if (!isExpected && !isOpen(db, sessionNumber, fact)) return;
  db.prepare(
    `INSERT INTO content (session, fact, part, piece, json, text) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (session, fact, part, piece) DO UPDATE SET json = excluded.json, text = excluded.text`,
  ).run(sessionNumber, fact, part, piece, isJson ? 1 : 0, text);
}

/** Moves the content stored under one key to a fact. Deletes it if the session does not have the fact or the fact is settled. */
export function claimContent(db: Database, sessionNumber: number, claimed: string, fact: string): void {
  if (isOpen(db, sessionNumber, fact)) {
    db.prepare("UPDATE OR REPLACE content SET fact = ? WHERE session = ? AND fact = ?").run(
      fact,
      sessionNumber,
      claimed,
    );
  } else db.prepare("DELETE FROM content WHERE session = ? AND fact = ?").run(sessionNumber, claimed);
}

/** A session's content in the order in which it was stored. Empty at capture levels without content. */
export const contentOf = (db: Database, sessionNumber: number): readonly KeptContent[] =>
  db
    .prepare("SELECT fact, part, piece, json, text FROM content WHERE session = ? AND part <> ? ORDER BY id")
    .all(sessionNumber, AUDIT_PART)
    .map((row) => ({
      fact: String(row["fact"]),
      part: String(row["part"]) as ContentPart,
      piece: String(row["piece"]),
      text: String(row["text"]),
      isJson: row["json"] === 1,
    }));

/** What the audit trail needs of a session's calls, by the fact that reported the arguments: JSON. */
export const auditInputsOf = (db: Database, sessionNumber: number): ReadonlyMap<string, string> =>
  new Map(
    db
      .prepare("SELECT fact, text FROM content WHERE session = ? AND part = ?")
      .all(sessionNumber, AUDIT_PART)
      .map((row) => [String(row["fact"]), String(row["text"])]),
  );

/** Moves content with its facts: to the session of the root agent, or to the session that an event turned out to belong to. */
export function moveContent(db: Database, from: number, to: number, fact?: string): void {
  if (fact === undefined) db.prepare("UPDATE OR REPLACE content SET session = ? WHERE session = ?").run(to, from);
  else db.prepare("UPDATE OR REPLACE content SET session = ? WHERE session = ? AND fact = ?").run(to, from, fact);
}

/**
 * Deletes content that is in spans now, and content that never will be.
 *
 * @param answered keys of content that was stored before its fact and is in spans now
 * @param isOver the session is over: content whose fact was never stored is deleted too
 */
export function dropSettledContent(
  db: Database,
  sessionNumber: number,
  answered: readonly string[],
  isOver: boolean,
): void {
  const drop = db.prepare("DELETE FROM content WHERE session = ? AND fact = ?");
  for (const fact of answered) drop.run(sessionNumber, fact);
  db.prepare(
    `DELETE FROM content WHERE session = ?1 AND (?2 = 0 OR substr(fact, 1, 1) <> '~')
       AND NOT EXISTS (SELECT 1 FROM events e WHERE e.id = fact AND e.settled = 0)
       AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.session = ?1 AND e.key = fact AND e.settled = 0)`,
  ).run(sessionNumber, isOver ? 0 : 1);
}

/** Deletes content that is not in spans. @param sessionNumber only of this session; absent: of all */
export function purgeContent(db: Database, sessionNumber?: number): void {
  const [ofOne, which] = sessionNumber === undefined ? ["", []] : [" AND session = ?", [sessionNumber]];
  db.prepare(`DELETE FROM content WHERE part <> ?${ofOne}`).run(AUDIT_PART, ...which);
  db.prepare(
    `UPDATE content SET text = json_remove(text, '$.texts') WHERE part = ?${ofOne} AND json_type(text, '$.texts') IS NOT NULL`,
  ).run(AUDIT_PART, ...which);
}

/**
 * Removes attributes from stored spans, including sent ones.
 *
 * @param sessionNumber only spans of this session; absent: all
 * @returns how many spans had any of them
 */
export function stripSpans(db: Database, names: readonly string[], sessionNumber?: number): number {
  const paths = names.map((name) => `$.attributes."${name}"`);
  const holds = paths.map(() => "json_type(record, ?) IS NOT NULL").join(" OR ");
  const [ofOne, which] = sessionNumber === undefined ? ["", []] : ["session = ? AND ", [sessionNumber]];
  const { changes } = db
    .prepare(
      `UPDATE spans SET record = json_remove(record, ${paths.map(() => "?").join(", ")}) WHERE ${ofOne}(${holds})`,
    )
    .run(...paths, ...which, ...paths);
  if (changes > 0) {
    db.prepare(
      "UPDATE outbox SET bytes = (SELECT length(CAST(record AS BLOB)) FROM spans WHERE spans.seq = outbox.seq)",
    ).run();
  }
  return changes;
}

// --- internal ---

const isOpen = (db: Database, sessionNumber: number, fact: string): boolean =>
  db
    .prepare(
      `SELECT 1 WHERE EXISTS (SELECT 1 FROM events WHERE id = ?1 AND session = ?2 AND settled = 0)
         OR EXISTS (SELECT 1 FROM entries WHERE session = ?2 AND key = ?1 AND settled = 0)`,
    )
    .get(fact, sessionNumber) !== undefined;
