import { lstat, stat } from "node:fs/promises";
import type { TranscriptBatch, TranscriptFile } from "../model/agent.ts";
import { type EntryOf, START, type TranscriptEntry } from "../model/transcript.ts";
import { readRepository } from "../repository/read.ts";
import { count } from "../store/counters.ts";
import { addEntries, positionOf, type Revision, setPosition, toldPromptIds } from "../store/facts.ts";
import { learn, type StoredSession, sessionById, setFork } from "../store/sessions.ts";
import { lastSegment } from "../store/settle.ts";
import { revise } from "../store/work.ts";
import { costNanoUsd } from "../telemetry/cost.ts";
import { METRIC_SHAPES, modelCallRevision } from "../telemetry/metrics.ts";
import { cardOf, type Drain, messageOf } from "./deps.ts";
import { factsOf } from "./derive.ts";

/** Transcripts of one session → store, from where they were left. Entries and the new offset are one commit. */
export async function readTranscripts(drain: Drain, sessionNumber: number): Promise<void> {
  const { db } = drain;
  let session = sessionById(db, sessionNumber);
  if (session.repository === undefined && session.cwd !== undefined) {
    const repository = await readRepository(session.cwd);
    if (repository !== undefined) learn(db, session.id, { timeMs: session.lastMs, repository });
  }
  const loadReader = cardOf(drain, session.source)?.transcript;
  if (loadReader === undefined || session.transcriptPath === undefined || !mayRead(drain, session)) return;
  const { default: reader } = await loadReader();
  const path = session.transcriptPath;
  const files = await reader.files(path, session.sessionId).catch((error: unknown) => unreadable(drain, path, error));
  if (files.length === 0 && !(await isGone(path))) unreadable(drain, path, new Error("it is no regular file"));
  for (const file of files) {
    try {
      const before = positionOf(db, file.path);
      const { size, mtimeMs } = await stat(file.path);
      if (before !== undefined && before.sizeBytes === size && before.modifiedMs === mtimeMs) continue;
      for await (const batch of reader.read(file, before?.offset ?? START)) {
        session = sessionById(db, sessionNumber);
        keep(drain, session, file, batch, { size, mtimeMs });
      }
    } catch (error) {
      unreadable(drain, file.path, error);
    }
  }
}

// --- internal ---

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
    const reported = own.findLast((entry) => entry.kind === "reported_usage");
    const facts = own.filter((entry) => entry.kind !== "session" && entry.kind !== "reported_usage");
    const revisions = addEntries(db, session, facts);
    for (const revision of revisions) applyRevision(drain, session, revision);
    learn(db, session.id, {
      timeMs: facts.reduce((ms, entry) => Math.max(ms, entry.timeMs), session.lastMs),
      reported: reported === undefined ? undefined : JSON.stringify(reported.byModel),
    });
    setPosition(
      db,
      session.id,
      file.path,
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

/** The tokens of this call were counted; what more there is, is counted now. */
function applyRevision(drain: Drain, session: StoredSession, { before, after }: Revision): void {
  const facts = factsOf(drain, session);
  const revised = revise(drain.db, session.id, before, after, (call) => costNanoUsd(call, facts.provider));
  if (revised === undefined) return;
  count(drain.db, [modelCallRevision(revised.before, revised.after, facts)], METRIC_SHAPES, drain.now());
}
