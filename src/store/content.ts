import type { ContentPart } from "../model/content.ts";
import type { Database } from "./database.ts";

/** A piece of content as it is kept: redacted where that is wanted, and no longer than it may be. */
export interface KeptContent {
  readonly fact: string;
  readonly part: ContentPart;
  readonly piece: string;
  readonly text: string;
  /** The text is JSON of what was a value; else it is the text itself. */
  readonly isJson: boolean;
}

/**
 * Keeps a piece of content until its fact is settled; the same piece told again takes the place of the first. Content of
 * facts that are settled, or that the session does not have because they are copies of another's, is not kept.
 *
 * @param isAwaited its fact is still to come
 */
export function putContent(db: Database, sessionNumber: number, content: KeptContent, isAwaited: boolean): void {
  const { fact, part, piece, text, isJson } = content;
  if (!isAwaited && !isOpen(db, sessionNumber, fact)) return;
  db.prepare(
    `INSERT INTO content (session, fact, part, piece, json, text) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (session, fact, part, piece) DO UPDATE SET json = excluded.json, text = excluded.text`,
  ).run(sessionNumber, fact, part, piece, isJson ? 1 : 0, text);
}

/** Gives what was kept under one key to a fact; what the session does not have, or was settled, gets nothing. */
export function claimContent(db: Database, sessionNumber: number, claimed: string, fact: string): void {
  if (isOpen(db, sessionNumber, fact)) {
    db.prepare("UPDATE OR REPLACE content SET fact = ? WHERE session = ? AND fact = ?").run(
      fact,
      sessionNumber,
      claimed,
    );
  } else db.prepare("DELETE FROM content WHERE session = ? AND fact = ?").run(sessionNumber, claimed);
}

/** What is kept of a session, in the order in which it was told. Empty at levels that keep none. */
export const contentOf = (db: Database, sessionNumber: number): readonly KeptContent[] =>
  db
    .prepare("SELECT fact, part, piece, json, text FROM content WHERE session = ? ORDER BY id")
    .all(sessionNumber)
    .map((row) => ({
      fact: String(row["fact"]),
      part: String(row["part"]) as ContentPart,
      piece: String(row["piece"]),
      text: String(row["text"]),
      isJson: row["json"] === 1,
    }));

/** Content goes where its facts go: to the session that this one is a subagent of, or to which an event turned out to belong. */
export function moveContent(db: Database, from: number, to: number, fact?: string): void {
  if (fact === undefined) db.prepare("UPDATE OR REPLACE content SET session = ? WHERE session = ?").run(to, from);
  else db.prepare("UPDATE OR REPLACE content SET session = ? WHERE session = ? AND fact = ?").run(to, from, fact);
}

/**
 * Lets go of what stands in spans by now, or never will.
 *
 * @param answered keys under which content waited for its fact, and which is in spans now
 * @param isOver nothing more is expected: what still waits for its fact waits for nothing
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

/** Deletes every piece of content that waits for its span. @returns how many there were */
export const purgeContent = (db: Database): number => db.prepare("DELETE FROM content").run().changes;

/**
 * Takes attributes out of spans, sent ones too.
 *
 * @param sessionNumber of the session whose spans they are; without one all
 * @returns how many spans had any
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
