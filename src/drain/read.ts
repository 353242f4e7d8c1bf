import { lstat, stat } from "node:fs/promises";
import type { TranscriptBatch, TranscriptFile } from "../model/agent.ts";
import { type EntryOf, START, type TranscriptEntry } from "../model/transcript.ts";
import { readRepository } from "../repository/read.ts";
import { positionOf, setPosition, toldPromptIds } from "../store/facts.ts";
import { learn, rootOf, type StoredSession, sessionById, setFork } from "../store/sessions.ts";
import { lastSegment } from "../store/settle.ts";
import { adopt } from "./adopt.ts";
import { cardOf, type Drain, messageOf } from "./deps.ts";
import { keepEntries } from "./keep.ts";

/**
 * Transcripts of one session → store, from where they were left. Entries and the new offset are one commit.
 *
 * @returns the number of the session they belong to: another one where this turned out to be a subagent's
 */
export async function readTranscripts(drain: Drain, sessionNumber: number): Promise<number> {
  const { db } = drain;
  const own = rootOf(db, sessionById(db, sessionNumber));
  await readOwn(drain, own);
  const root = rootOf(db, sessionById(db, own.id));
  if (root.id !== own.id) await readOwn(drain, root);
  return root.id;
}

// --- internal ---

async function readOwn(drain: Drain, start: StoredSession): Promise<void> {
  const { db, places } = drain;
  let session = start;
  if (session.repository === undefined && session.cwd !== undefined) {
    const repository = await readRepository(session.cwd);
    if (repository !== undefined) learn(db, session.id, { timeMs: session.lastMs, repository });
  }
  const loadReader = cardOf(drain, session.source)?.transcript;
  if (loadReader === undefined || !mayRead(drain, session)) return;
  const { default: reader } = await loadReader();
  const path = session.transcriptPath;
  const query = { sessionId: session.sessionId, home: places.home, ...(path !== undefined && { path }) };
  const files = await reader
    .files(query)
    .catch((error: unknown) => unreadable(drain, path ?? `of session ${session.sessionId}`, error));
  if (files.length === 0 && path !== undefined && !(await isGone(path))) {
    unreadable(drain, path, new Error("it is no regular file"));
  }
  for (const file of files) {
    try {
      const before = positionOf(db, keyOf(file));
      const { size, mtimeMs } = await sizeOf(file);
      if (before !== undefined && before.sizeBytes === size && before.modifiedMs === mtimeMs) continue;
      for await (const batch of reader.read(file, before?.offset ?? START)) {
        session = sessionById(db, start.id);
        if (session.parent !== undefined) return;
        keep(drain, session, file, batch, { size, mtimeMs });
      }
    } catch (error) {
      unreadable(drain, file.path, error);
    }
  }
}

const keyOf = (file: TranscriptFile): string => file.key ?? file.path;

/** Of all files that a part consists of together; one that is not there has none. */
async function sizeOf({ path, watch = [path] }: TranscriptFile): Promise<{ size: number; mtimeMs: number }> {
  const found = await Promise.all(watch.map((one) => (one === path ? stat(one) : stat(one).catch(() => undefined))));
  return found.reduce(
    (all, one) => ({ size: all.size + (one?.size ?? 0), mtimeMs: Math.max(all.mtimeMs, one?.mtimeMs ?? 0) }),
    { size: 0, mtimeMs: 0 },
  );
}

/** Tells of a transcript that cannot be read; the session goes on with what its hooks told. */
function unreadable(drain: Drain, path: string, error: unknown): readonly TranscriptFile[] {
  const line = `could not read the transcript ${JSON.stringify(path)}: ${messageOf(error)}`;
  if (!drain.report.problems.includes(line)) {
    drain.report.problems.push(line);
    drain.log(line);
  }
  return [];
}

const isGone = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => false,
    () => true,
  );

/** A fork's file begins with a copy of another session: only its first own prompt, told by a hook, shows where it ends. */
function mayRead(drain: Drain, session: StoredSession): boolean {
  if (session.fork !== "waiting" || toldPromptIds(drain.db, session.id).size > 0) return true;
  return lastSegment(drain.db, session.id)?.segment.endMs !== undefined;
}

function keep(
  drain: Drain,
  session: StoredSession,
  file: TranscriptFile,
  batch: TranscriptBatch,
  seen: { readonly size: number; readonly mtimeMs: number },
): void {
  const { db, report } = drain;
  db.transaction(() => {
    const own = ownPart(drain, session, batch.entries);
    // Told once per file, in a fork's among the copied lines
    for (const entry of batch.entries) if (entry.kind === "session") learnFacts(drain, session, entry);
    if (sessionById(db, session.id).parent !== undefined) return;
    const reported = own.findLast((entry) => entry.kind === "reported_usage");
    const facts = own.filter((entry) => entry.kind !== "session" && entry.kind !== "reported_usage");
    keepEntries(drain, session, facts);
    learn(db, session.id, {
      timeMs: facts.reduce((ms, entry) => Math.max(ms, entry.timeMs), session.lastMs),
      reported: reported === undefined ? undefined : JSON.stringify(reported.byModel),
    });
    setPosition(
      db,
      session.id,
      keyOf(file),
      { offset: batch.next, sizeBytes: seen.size, modifiedMs: seen.mtimeMs },
      batch.unreadable,
    );
    report.transcriptLinesUnreadable += batch.unreadable;
  });
}

function learnFacts(drain: Drain, session: StoredSession, entry: EntryOf<"session">): void {
  learn(drain.db, session.id, {
    timeMs: session.lastMs,
    cwd: session.cwd === undefined ? entry.cwd : undefined,
    agentVersion: entry.agentVersion,
    branch: entry.gitBranch,
  });
  if (entry.parentSessionId !== undefined) adopt(drain.db, session, entry.parentSessionId, entry.timeMs);
}

function ownPart(
  drain: Drain,
  session: StoredSession,
  entries: readonly TranscriptEntry[],
): readonly TranscriptEntry[] {
  if (session.fork !== "waiting") return entries;
  const told = toldPromptIds(drain.db, session.id);
  const first = entries.find((entry) => entry.kind === "prompt" && told.has(entry.promptKey ?? ""));
  // Copied prompts can carry the id of the first own one; that one is the last of them
  const begins =
    first === undefined
      ? -1
      : entries.findLastIndex((entry) => entry.kind === "prompt" && entry.promptKey === first.promptKey);
  if (begins === -1) return [];
  setFork(drain.db, session.id, "begun");
  return entries.slice(begins);
}
