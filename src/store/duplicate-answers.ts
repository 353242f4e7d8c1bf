import type { TranscriptEntry } from "#core/model/transcript.ts";
import { CALL_KEY } from "#core/packed/fact-tables.ts";
import { answerId, duplicatedAnswerId, isDuplicateAnswer } from "#core/rules/duplicate-answers.ts";
import type { Database } from "./database.ts";
import type { StoredSession } from "./sessions.ts";

// Some transcripts contain an answer again, under another request. Such a copy is not stored, and not counted twice. See
// `model/duplicate-answers.ts`.

/** Whether an entry is a copy of an answer that the session contains. */
export function isCopyOfKnownAnswer(db: Database, session: StoredSession, entry: TranscriptEntry): boolean {
  const id = duplicatedAnswerId(entry);
  return id !== undefined && sameAnswer(db, session, entry, id).some((other) => isDuplicateAnswer(entry, other.entry));
}

/**
 * For an answer that comes after its copies, as when its file is read in slices or could not be read: deletes the copies that
 * are not settled.
 *
 * @returns whether a copy was settled: it stays where it was counted, and the answer must not be counted as well
 */
export function replaceCopies(db: Database, session: StoredSession, answer: TranscriptEntry): boolean {
  const id = answerId(answer);
  if (id === undefined) return false;
  const copies = sameAnswer(db, session, answer, id).filter(({ entry }) => isDuplicateAnswer(entry, answer));
  for (const { entry, isSettled } of copies) {
    if (isSettled) continue;
    db.prepare("DELETE FROM entries WHERE session = ? AND key = ?").run(session.id, entry.key);
    db.prepare("DELETE FROM content WHERE session = ? AND fact = ?").run(session.id, entry.key);
    db.prepare("DELETE FROM owners WHERE source = ? AND global_key = ? AND session = ?").run(
      session.source,
      entry.globalKey ?? "",
      session.id,
    );
  }
  return copies.some(({ isSettled }) => isSettled);
}

// --- internal ---

/** The session's other entries with the same answer, under other requests. */
const sameAnswer = (db: Database, session: StoredSession, { key }: TranscriptEntry, id: string) =>
  db
    .prepare("SELECT body, settled FROM entries WHERE session = ? AND key > ? AND key < ? AND key <> ?")
    .all(session.id, `${CALL_KEY}${id}:`, `${CALL_KEY}${id};`, key)
    .map((row) => ({
      entry: JSON.parse(String(row["body"])) as TranscriptEntry,
      isSettled: row["settled"] === 1,
    }));
