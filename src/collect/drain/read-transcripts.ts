import { lstat } from "node:fs/promises";
import { readRepository } from "#config/repository/read.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { PartSize, TranscriptBatch, TranscriptFile, TranscriptReader } from "#core/model/transcript-reader.ts";
import { keepsNames } from "#core/rules/capture.ts";
import { transcriptOf } from "#core/rules/cards.ts";
import { messageOf, retryOnce } from "#kit/errors.ts";
import { step } from "#kit/fault-points.ts";
import { ExcessError } from "#kit/json-limits.ts";
import { RefusedError, refusalOf } from "#kit/open.ts";
import { plural } from "#kit/text/figures.ts";
import { reportProblemOnce } from "#store/capture/context.ts";
import { levelOf } from "#store/capture/level.ts";
import { limitContent, limitEntries } from "#store/capture/limit-fields.ts";
import { loadAndApplyProjectSettings } from "#store/capture/project.ts";
import { protectRepository } from "#store/capture/protect.ts";
import { countOpenEntries } from "#store/facts.ts";
import { addFailure, addUnread, clearFailures, clearUnread } from "#store/failures.ts";
import { positionOf, setPartSize, UNFINISHED } from "#store/positions.ts";
import { rootOf, type StoredSession, sessionById, updateSession } from "#store/sessions.ts";
import { filesOfSession, partSizeOf, positionKeyOf } from "../transcripts/session-files.ts";
import { rootsOf } from "../transcripts/transcript-roots.ts";
import { affectsAllSessions, noteFailure, reasonOf } from "./contain.ts";
import { type Drain, wantsContent } from "./context.ts";
import { withOrigin } from "./local-sessions.ts";
import { reasonSetAside, setAside, takeBack } from "./set-aside.ts";
import { storeBatch } from "./store-batch.ts";

/**
 * Transcripts of one session → store, from where the last read ended. Entries and the new offset are one commit. From a large
 * file only one slice is read; `drain.partlyReadUntilMs` then contains the session.
 *
 * @returns the number of the session that the entries belong to: another one if this session is a subagent's
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
  const allowed = await loadAndApplyProjectSettings(drain, stored);
  if (allowed === undefined) return;
  const session = await withOrigin(drain, allowed);
  if (session.repository === undefined && session.cwd !== undefined && keepsNames(levelOf(drain, session))) {
    const repository = await readRepository(session.cwd, places.home);
    if (repository !== undefined)
      updateSession(db, session.id, { timeMs: session.lastMs, repository: protectRepository(drain, repository) });
  }
  const loadReader = transcriptOf(drain, session.source);
  if (loadReader === undefined) return;
  const { default: reader } = await loadReader();
  const roots = rootsOf(drain, reader, session.source);
  const unread = new Map<string, unknown>();
  const noteUnread = (file: string, error: unknown): void => {
    unread.set(file, error);
    reportUnreadable(drain, file, error);
  };
  const path = await readablePath(session.transcriptPath, roots, noteUnread);
  const query = { home: places.home, roots, ...(path !== undefined && { path }) };
  let hasFailed = false;
  const onProblem = (folder: string, error: Error): void => {
    // Retry first: settled turns are never read again, so a part that is missing for a moment would be missing permanently
    if (!hasFailed) throw error;
    reportUnreadable(drain, folder, error);
  };
  const failed = new Set<string>();
  const fail = (file: TranscriptFile, error: unknown): void => {
    if (error instanceof ExcessError) noteSetAside(drain, file, error);
    if (!isFileSystemError(error)) {
      failed.add(file.path);
      drain.unreadSessions.add(session.id);
      noteFailure(drain, session.id, error instanceof ExcessError ? "limit" : "read", error, file.path);
    }
    noteUnread(file.path, error);
  };
  drain.partlyReadUntilMs.delete(session.id);
  drain.unreadSessions.delete(session.id);
  const leaveListed = drain.progress.enter(path ?? session.sessionId);
  const files = await retryOnce(() => {
    if (path !== undefined) assertNotSetAside(drain, wholeOf(path));
    return filesOfSession(reader, session, { ...query, onProblem }).catch((error: unknown) => {
      hasFailed = true;
      throw error;
    });
  })
    .catch((error: unknown) => {
      if (path !== undefined && error instanceof ExcessError) fail(wholeOf(path), error);
      else if (path !== undefined) noteUnread(path, error);
      else reportUnreadable(drain, `of session ${session.sessionId}`, error);
      return [];
    })
    .finally(leaveListed);
  // A session with a local id may have been removed from its database
  const isUnexplained = path !== undefined && files.length === 0 && !unread.has(path) && failed.size === 0;
  if (isUnexplained && session.local === undefined && !(await isGone(path))) {
    noteUnread(path, new Error("it contains no session of its agent"));
  }
  for (const file of files) {
    const leave = drain.progress.enter(positionKeyOf(file));
    try {
      if ((await readablePath(file.path, roots, noteUnread)) === undefined) continue;
      if (!(await retryOnce(() => readNewEntries(drain, session.id, { ...file, roots }, reader)))) return;
    } catch (error) {
      if (affectsAllSessions(error)) throw error;
      fail(file, error);
    } finally {
      leave();
    }
  }
  clearFailures(db, session.id, "read", failed);
  clearFailures(db, session.id, "limit", failed);
  for (const [file, error] of unread)
    if (!(await isGone(file))) addUnread(db, session.id, file, reasonOf(drain, unreadReason(file, error)), drain.now());
  clearUnread(db, session.id, new Set(unread.keys()));
  // The transcript may be the first to report the session's folder
  if (session.cwd === undefined) await loadAndApplyProjectSettings(drain, sessionById(db, session.id));
}

/** The path if it may be read; otherwise `undefined`, and `noteUnread` gets the reason. */
async function readablePath(
  path: string | undefined,
  roots: readonly string[],
  noteUnread: (path: string, error: unknown) => void,
): Promise<string | undefined> {
  const refusal = path === undefined ? undefined : await refusalOf(path, roots);
  if (path === undefined || refusal === undefined) return path;
  noteUnread(path, new RefusedError(refusal));
  return undefined;
}

/** Reads one slice of a file, from where the last read ended. @returns false if the session is a subagent's after all */
async function readNewEntries(
  drain: Drain,
  sessionNumber: number,
  file: TranscriptFile,
  reader: Pick<TranscriptReader, "read">,
): Promise<boolean> {
  const before = positionOf(drain.db, positionKeyOf(file));
  const size = step("transcript.look", () => partSizeOf(file));
  assertNotSetAside(drain, file, size);
  if (before?.sizeBytes === size.sizeBytes && before.modifiedMs === size.modifiedMs) return true;
  const startMs = performance.now();
  // Entries that a killed drain has read count too, because they settle together with those read now. Only the first time: a turn
  // can stay open for long
  let slice = drain.startedSessions.has(sessionNumber) ? 0 : countOpenEntries(drain.db, sessionNumber);
  drain.startedSessions.add(sessionNumber);
  let hasBatches = false;
  for await (const { batch: read, isLast } of withLast(
    reader.read(file, before?.offset ?? INITIAL_OFFSET, { content: wantsContent(drain) }),
  )) {
    hasBatches = true;
    const batch = { ...read, entries: limitEntries(read.entries), content: limitContent(read.content ?? []) };
    const session = sessionById(drain.db, sessionNumber);
    if (session.parent !== undefined) return false;
    // If the drain is killed after this batch, the file must not look as if it was read to its end
    storeBatch(drain, session, positionKeyOf(file), batch, isLast ? size : { ...size, sizeBytes: UNFINISHED });
    if (batch.setAside !== undefined) reportSetAside(drain, session, file.path, batch.setAside);
    drain.progress.note("read");
    slice += batch.entries.length;
    const isLong = slice >= SLICE_ENTRIES || performance.now() - startMs >= SLICE_MS;
    if (isLast || !isLong || !isResumable(batch)) continue;
    const readUntilMs = batch.entries.at(-1)?.timeMs ?? Number.NEGATIVE_INFINITY;
    drain.partlyReadUntilMs.set(
      sessionNumber,
      Math.min(readUntilMs, drain.partlyReadUntilMs.get(sessionNumber) ?? Number.POSITIVE_INFINITY),
    );
    break;
  }
  if (!hasBatches && before !== undefined) setPartSize(drain.db, positionKeyOf(file), size);
  takeBack(drain, positionKeyOf(file));
  return true;
}

// Limits for one file before others are read: some megabytes of memory, and a part of the drain's time
const SLICE_ENTRIES = 3_000;
const SLICE_MS = 2_000;

/** A reader without a memo starts from the beginning each time, so it must read the whole file. */
const isResumable = ({ next }: TranscriptBatch): boolean => Object.keys(next.memo).length > 0;

/** Marks the last batch. If reading fails, the batches before the error are yielded, none of them as the last. */
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

/** A database as a whole: its list of sessions is read before one of them. */
const wholeOf = (path: string): TranscriptFile => ({ path, watch: [path, `${path}-wal`] });

/** @throws ExcessError if the file is set aside and must not be tried again yet */
function assertNotSetAside(drain: Drain, file: TranscriptFile, size?: PartSize): void {
  const reason = reasonSetAside(drain, positionKeyOf(file), () => size ?? partSizeOf(file));
  if (reason !== undefined) throw new ExcessError(reason);
}

/** Sets a file aside that exceeds a limit, unless it is set aside already. */
function noteSetAside(drain: Drain, file: TranscriptFile, { message }: ExcessError): void {
  const key = positionKeyOf(file);
  const size = partSizeOf(file);
  if (reasonSetAside(drain, key, () => size) === undefined) setAside(drain, key, message, size);
}

/** Stores which of a session's files has records that are too large. Everything else in it was read. */
function reportSetAside(
  drain: Drain,
  session: StoredSession,
  path: string,
  { records, reason }: NonNullable<TranscriptBatch["setAside"]>,
): void {
  addFailure(drain.db, session.id, { step: "records", reason, path }, drain.now(), records);
  reportProblemOnce(
    drain,
    `set aside ${plural(records, "record")} of the transcript ${JSON.stringify(path)}: ${reason}`,
  );
}

/** Reports a transcript that cannot be read; the session continues with its hooks' events. @returns no files */
function reportUnreadable(drain: Drain, path: string, error: unknown): readonly TranscriptFile[] {
  reportProblemOnce(
    drain,
    `${error instanceof RefusedError ? "" : "could not read the "}transcript ${unreadReason(path, error)}`,
  );
  return [];
}

const unreadReason = (path: string, error: unknown): string =>
  error instanceof RefusedError ? error.message : `${JSON.stringify(path)}: ${messageOf(error)}`;

/** An error of the file system, or a file that must not be read: the session continues without it. */
const isFileSystemError = (error: unknown): boolean =>
  error instanceof RefusedError || (error instanceof Error && "syscall" in error);

const isGone = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => false,
    () => true,
  );
