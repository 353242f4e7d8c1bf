import { lstat } from "node:fs/promises";
import { RefusedError, refusalOf } from "../agents/shared/transcript/open.ts";
import { levelOf } from "../capture/level.ts";
import { limitContent, limitEntries, limitMemo } from "../capture/limit-fields.ts";
import { loadAndApplyProjectSettings } from "../capture/project.ts";
import { protectRepository } from "../capture/protect.ts";
import { storeContent } from "../capture/store-content.ts";
import type { PartSize, TranscriptBatch, TranscriptFile, TranscriptReader } from "../model/agent.ts";
import { keepsContent, keepsNames } from "../model/capture.ts";
import { cardOf } from "../model/card-of.ts";
import { messageOf } from "../model/error-message.ts";
import { step } from "../model/fault-points.ts";
import { INITIAL_OFFSET } from "../model/initial-offset.ts";
import { retryOnce } from "../model/retry-once.ts";
import type { EntryOf, TranscriptEntry } from "../model/transcript.ts";
import { readRepository } from "../repository/read.ts";
import { StoreError } from "../store/database.ts";
import { countOpenEntries, hookPromptIds } from "../store/facts.ts";
import { positionOf, setPartSize, setPosition, UNFINISHED } from "../store/positions.ts";
import { ensureSession, rootOf, type StoredSession, sessionById, setFork, updateSession } from "../store/sessions.ts";
import { partSizeOf } from "../transcripts/part-size.ts";
import { rootsOf } from "../transcripts/transcript-roots.ts";
import type { Drain } from "./context.ts";
import { unknownRecordKinds } from "./drift.ts";
import { makeSubagent } from "./make-subagent.ts";
import { lineIncrements, recordSelf, recordUnknownNames } from "./self-telemetry.ts";
import { entriesAtLevel, storeEntries } from "./store-entries.ts";

/**
 * Transcripts of one session → store, from where they were left. Entries and the new offset are one commit. Of a large file
 * one slice is read; `drain.partly` then says so, and up to when it tells.
 *
 * @returns the number of the session they belong to: another one where this turned out to be a subagent's
 */
export async function readTranscripts(drain: Drain, sessionNumber: number): Promise<number> {
  const { db } = drain;
  const own = rootOf(db, sessionById(db, sessionNumber));
  await readSession(drain, own);
  const root = rootOf(db, sessionById(db, own.id));
  if (root.id !== own.id) {
    drain.partlyReadUntilMs.delete(own.id);
    await readSession(drain, root);
  }
  return root.id;
}

// --- internal ---

async function readSession(drain: Drain, stored: StoredSession): Promise<void> {
  const { db, places } = drain;
  const session = await loadAndApplyProjectSettings(drain, stored);
  if (session === undefined) return;
  if (session.repository === undefined && session.cwd !== undefined && keepsNames(levelOf(drain, session))) {
    const repository = await readRepository(session.cwd);
    if (repository !== undefined)
      updateSession(db, session.id, { timeMs: session.lastMs, repository: protectRepository(drain, repository) });
  }
  const loadReader = cardOf(drain, session.source)?.transcript;
  if (loadReader === undefined) return;
  const { default: reader } = await loadReader();
  const roots = rootsOf(drain, reader, session.source);
  const path = await readablePath(drain, session.transcriptPath, roots);
  const query = { sessionId: session.sessionId, home: places.home, roots, ...(path !== undefined && { path }) };
  let hasFailed = false;
  const onProblem = (folder: string, error: Error): void => {
    // A part that is missing for a moment would be missing for good: what is settled is not read again for ever
    if (!hasFailed) throw error;
    reportUnreadable(drain, folder, error);
  };
  const files = await retryOnce(() =>
    reader.files({ ...query, onProblem }).catch((error: unknown) => {
      hasFailed = true;
      throw error;
    }),
  ).catch((error: unknown) => reportUnreadable(drain, path ?? `of session ${session.sessionId}`, error));
  if (files.length === 0 && path !== undefined && !(await isGone(path))) {
    reportUnreadable(drain, path, new Error("it holds no session that its agent could have written"));
  }
  drain.partlyReadUntilMs.delete(session.id);
  for (const file of files) {
    try {
      if ((await readablePath(drain, file.path, roots)) === undefined) continue;
      if (!(await retryOnce(() => readNewEntries(drain, session.id, { ...file, roots }, reader)))) return;
    } catch (error) {
      if (error instanceof StoreError) throw error;
      reportUnreadable(drain, file.path, error);
    }
  }
  // Its folder may have been told by the transcript alone
  if (session.cwd === undefined) await loadAndApplyProjectSettings(drain, sessionById(db, session.id));
}

/** A path that may be read, else a problem line that says why not. */
async function readablePath(
  drain: Drain,
  path: string | undefined,
  roots: readonly string[],
): Promise<string | undefined> {
  const refusal = path === undefined ? undefined : await refusalOf(path, roots);
  if (path === undefined || refusal === undefined) return path;
  reportUnreadable(drain, path, new RefusedError(refusal));
  return undefined;
}

/** From where it was left, one slice of it. @returns false when the session turned out to be a subagent's */
async function readNewEntries(
  drain: Drain,
  sessionNumber: number,
  file: TranscriptFile,
  reader: Pick<TranscriptReader, "read">,
): Promise<boolean> {
  const before = positionOf(drain.db, keyOf(file));
  const seen = step("transcript.look", () => partSizeOf(file));
  if (before?.sizeBytes === seen.sizeBytes && before.modifiedMs === seen.modifiedMs) return true;
  const startMs = performance.now();
  // What a drain that died has read is settled together with what comes now. Once: a turn can be open for long
  let slice = drain.startedSessions.has(sessionNumber) ? 0 : countOpenEntries(drain.db, sessionNumber);
  drain.startedSessions.add(sessionNumber);
  let isNews = false;
  for await (const { batch: read, isLast } of withLast(
    reader.read(file, before?.offset ?? INITIAL_OFFSET, { content: keepsContent(drain.loaded.config.capture) }),
  )) {
    isNews = true;
    const batch = { ...read, entries: limitEntries(read.entries), content: limitContent(read.content ?? []) };
    const session = sessionById(drain.db, sessionNumber);
    if (session.parent !== undefined) return false;
    // A drain that dies here must not leave the file as one that was read to this size
    storeBatch(drain, session, file, batch, isLast ? seen : { ...seen, sizeBytes: UNFINISHED });
    slice += batch.entries.length;
    const isLong = slice >= SLICE_ENTRIES || performance.now() - startMs >= SLICE_MS;
    if (isLast || !isLong || !isResumable(batch)) continue;
    const toldMs = batch.entries.at(-1)?.timeMs ?? Number.NEGATIVE_INFINITY;
    drain.partlyReadUntilMs.set(
      sessionNumber,
      Math.min(toldMs, drain.partlyReadUntilMs.get(sessionNumber) ?? Number.POSITIVE_INFINITY),
    );
    break;
  }
  if (!isNews && before !== undefined) setPartSize(drain.db, keyOf(file), seen);
  return true;
}

// What one file may take before the others have their turn: some megabytes of memory, and of each drain's time
const SLICE_ENTRIES = 3_000;
const SLICE_MS = 2_000;

/** A reader that remembers nothing begins anew each time, and must come to the end. */
const isResumable = ({ next }: TranscriptBatch): boolean => Object.keys(next.memo).length > 0;

/** What could be read before an error comes before the error, and is not the last. */
async function* withLast(
  batches: AsyncIterable<TranscriptBatch>,
): AsyncGenerator<{ readonly batch: TranscriptBatch; readonly isLast: boolean }> {
  let held: TranscriptBatch | undefined;
  try {
    for await (const batch of batches) {
      if (held !== undefined) yield { batch: held, isLast: false };
      held = batch;
    }
  } catch (error) {
    if (held !== undefined) yield { batch: held, isLast: false };
    throw error;
  }
  if (held !== undefined) yield { batch: held, isLast: true };
}

const keyOf = (file: TranscriptFile): string => file.key ?? file.path;

/** Tells of a transcript that cannot be read; the session goes on with what its hooks told. */
function reportUnreadable(drain: Drain, path: string, error: unknown): readonly TranscriptFile[] {
  const line =
    error instanceof RefusedError
      ? `transcript ${error.message}`
      : `could not read the transcript ${JSON.stringify(path)}: ${messageOf(error)}`;
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

function storeBatch(
  drain: Drain,
  session: StoredSession,
  file: TranscriptFile,
  batch: TranscriptBatch,
  seen: PartSize,
): void {
  const { db, report } = drain;
  db.transaction(() => {
    const own = ownPart(drain, session, batch.entries);
    // Told once per file, in a fork's among the copied lines
    for (const entry of entriesAtLevel(drain, session, batch.entries)) {
      if (entry.kind === "session") applySessionEntry(drain, session, entry);
    }
    if (sessionById(db, session.id).parent !== undefined) return;
    const reported = own.findLast((entry) => entry.kind === "reported_usage");
    const facts = own.filter((entry) => entry.kind !== "session" && entry.kind !== "reported_usage");
    storeEntries(drain, session, facts);
    storeContent(drain, session, batch.content ?? [], levelOf(drain, session));
    updateSession(db, session.id, {
      timeMs: facts.reduce((ms, entry) => Math.max(ms, entry.timeMs), session.lastMs),
      reported: reported === undefined ? undefined : JSON.stringify(reported.byModel),
    });
    setPosition(
      db,
      session.id,
      keyOf(file),
      {
        offset: { ...batch.next, memo: { ...limitMemo(batch.next.memo) } },
        ...seen,
      },
      batch.unreadable,
    );
    report.transcriptLinesUnreadable += batch.unreadable;
    recordSelf(drain, lineIncrements(session.source, batch.records ?? 0, batch.unreadable));
    recordUnknownNames(
      drain,
      session.source,
      unknownRecordKinds(batch.unknownKinds),
      sessionById(db, session.id).agentVersion,
    );
  }, "commit.transcript");
}

function applySessionEntry(drain: Drain, session: StoredSession, entry: EntryOf<"session">): void {
  updateSession(drain.db, session.id, {
    timeMs: session.lastMs,
    cwd: session.cwd === undefined ? entry.cwd : undefined,
    agentVersion: entry.agentVersion,
    branch: entry.gitBranch,
  });
  if (entry.parentSessionId !== undefined) makeSubagent(drain.db, session, entry.parentSessionId, entry.timeMs);
  if (entry.subagentSessionId === undefined) return;
  const child = ensureSession(drain.db, session.source, entry.subagentSessionId, entry.timeMs);
  makeSubagent(drain.db, child, session.sessionId, entry.timeMs);
}

/**
 * A fork's file begins with a copy of another session. Its first own prompt, told by a hook, shows where that ends; where no
 * hook told it the times do, which are copied with the rest.
 */
function ownPart(
  drain: Drain,
  session: StoredSession,
  entries: readonly TranscriptEntry[],
): readonly TranscriptEntry[] {
  if (session.fork !== "waiting") return entries;
  const told = hookPromptIds(drain.db, session.id);
  const first = entries.find((entry) => entry.kind === "prompt" && told.has(entry.promptKey ?? ""));
  // Copied prompts can carry the id of the first own one; that one is the last of them
  const begins =
    first === undefined
      ? entries.length
      : entries.findLastIndex((entry) => entry.kind === "prompt" && entry.promptKey === first.promptKey);
  const own = entries.filter((entry, index) => index >= begins || entry.timeMs >= session.firstMs);
  if (own.length > 0) setFork(drain.db, session.id, "begun");
  return own;
}
