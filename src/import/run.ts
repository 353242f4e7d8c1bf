import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import PQueue from "p-queue";
import { NO_BRIDGE } from "../bridge/bridge.ts";
import { applyCaptureSettings, withLastKnownLevel } from "../capture/apply-settings.ts";
import { type Drain, type DrainDeps, type DrainReport, emptyReport } from "../drain/context.ts";
import { ensureInstance } from "../drain/instance.ts";
import { withStore } from "../drain/open.ts";
import { ensurePrivateState } from "../drain/private-state.ts";
import { messageOf } from "../model/error-message.ts";
import { protectionOf } from "../privacy/protection.ts";
import { checkpoint, deferSync } from "../store/database.ts";
import { withDrainLock } from "../store/lock.ts";
import { mergeRuns } from "../store/packed.ts";
import { readStore } from "../store/read-only.ts";
import { type Found, findSessions, type Known, readKnown } from "./find.ts";
import { ImportWriter, type ReadSession } from "./import-writer.ts";
import type { ReadResult } from "./read.ts";
import type { Readers } from "./readers.ts";

export interface ImportOptions {
  /** Sources of the agents to import. */
  readonly agents: readonly string[];
  /** Environment variables that set the agents' folders. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Skip sessions whose last activity is earlier. */
  readonly sinceMs?: number;
  /** Also read imported sessions that have not changed. @default those that another version imported */
  readonly again?: boolean;
  /** Write nothing, and create no store. */
  readonly dryRun: boolean;
  /** Called once it is known how many bytes there are to read. */
  readonly readers: (drain: Drain, bytes: number) => Readers;
  /** Called a few times a second. */
  readonly onProgress: (progress: ImportProgress) => void;
  /** Stops after the current commit. */
  readonly signal: AbortSignal;
}

export interface ImportProgress {
  readonly sessions: number;
  readonly ofSessions: number;
  readonly bytes: number;
  readonly ofBytes: number;
}

/** Counts of one agent's sessions. */
export interface AgentImport {
  found: number;
  /** Stored by this import, completely or in part. */
  imported: number;
  /** Of these, sessions that were imported before and have not changed. */
  again: number;
  /** Nothing new since the last import. */
  unchanged: number;
  /** Known from hooks, with something new: the drain that follows reads it. */
  fromHooks: number;
  /** Earlier than `sinceMs`. */
  older: number;
  /** Excluded by their project, or without any record of a session. */
  leftOut: number;
  /** Read in part or not at all. What was read is stored; the next import retries. */
  failed: number;
  /** Files whose last line is incomplete although they have not changed for some time; that line is not counted. */
  unfinished: number;
  /** Bytes read; in a dry run, bytes to read. */
  bytes: number;
}

export interface ImportReport {
  readonly agents: ReadonlyMap<string, AgentImport>;
  /** Numbers of the sessions that are known from hooks and have something new. */
  readonly fromHooks: readonly number[];
  readonly problems: readonly string[];
  /** Number of folders and sessions that could not be read because of a system error. Unknown formats are not counted. */
  readonly unseen: number;
  readonly isStopped: boolean;
  /** A hook requested a drain during the import, and its payload is still in the inbox. */
  readonly isDrainRequested: boolean;
  readonly tookMs: number;
}

/**
 * Imports past sessions into the store. They are stored packed, and nothing is queued for export.
 *
 * Each commit has complete sessions and their positions: an import that is stopped or killed continues where it was.
 *
 * @returns `undefined` while a drain holds the lock
 * @throws StoreError if the store cannot be used, StateError if the state directory belongs to another user
 */
export async function importSessions(deps: DrainDeps, options: ImportOptions): Promise<ImportReport | undefined> {
  const protection = await protectionOf(deps.loaded.config.redaction, deps.places.home);
  const safe = { ...protection, ...deps };
  const report: DrainReport = emptyReport();
  if (options.dryRun) {
    const withSessions = (known: Known): Known => {
      known.sessions();
      return known;
    };
    const known = await readKnown(
      safe,
      options,
      (ask) => readStore(safe.places.storePath, (db) => withSessions(ask(db))) ?? ask(undefined),
    );
    return dryRun(await search(safe, known, options), options);
  }
  await ensurePrivateState(safe);
  let done: ImportReport | undefined;
  const hadLock = await withDrainLock(join(deps.places.stateDir, "drain.lock"), () =>
    withStore({ ...safe, report, isImport: true }, async (db) => {
      // A second call: a drain was requested during the import
      if (done !== undefined) {
        done = { ...done, isDrainRequested: true };
        return;
      }
      const loaded = withLastKnownLevel(db, deps.loaded);
      const drain: Drain = {
        ...safe,
        loaded,
        db,
        report,
        partlyReadUntilMs: new Map(),
        startedSessions: new Set(),
        unreadSessions: new Set(),
        bridge: NO_BRIDGE,
      };
      // Checkpoint a few times instead of after each commit
      db.prepare(`PRAGMA wal_autocheckpoint = ${PAGES_PER_CHECKPOINT}`).get();
      db.prepare(`PRAGMA cache_size = -${CACHE_KILOBYTES}`).all();
      ensureInstance(drain);
      applyCaptureSettings(drain);
      deferSync(db);
      done = await pass(drain, options);
      mergeRuns(db);
      checkpoint(db);
    }),
  );
  if (!hadLock || done === undefined) return undefined;
  return { ...done, problems: done.problems.map(protection.redactSecrets) };
}

// --- internal ---

/** Large enough that few commits wait for the disk, small enough for the memory and to lose if the import is killed. */
const BYTES_PER_COMMIT = 256 << 20;
const SESSIONS_PER_COMMIT = 500;
/** With threads, commits get smaller towards the end: the last ones run while no thread reads. */
const LAST_BYTES_PER_COMMIT = 16 << 20;
/** How far threads may read ahead: their results are held in memory. */
const BYTES_AHEAD = 512 << 20;
/** 4 MB: the last checkpoint runs while no thread reads. */
const PAGES_PER_CHECKPOINT = 1_024;
/** Holds all pages of a commit: evicted pages would be written twice. */
const CACHE_KILOBYTES = 6_000;
/** Size of a group: small enough that threads finish at about the same time. */
const GROUP_BYTES = 4 << 20;
const GROUP_SESSIONS = 32;
const PROGRESS_MS = 100;
/** A line that has not grown for this long is not being written any more. */
const WRITING_MS = 10 * 60_000;

/** Sessions to import. */
interface Searched {
  readonly startMs: number;
  readonly agents: ReadonlyMap<string, AgentImport>;
  readonly of: (source: string) => AgentImport;
  readonly fromHooks: readonly number[];
  readonly toRead: readonly Found[];
  readonly problems: readonly string[];
  readonly unseen: number;
}

async function search(deps: DrainDeps, known: Known, options: ImportOptions): Promise<Searched> {
  const startMs = performance.now();
  const agents = new Map(options.agents.map((source) => [source, emptyImport()]));
  const of = (source: string): AgentImport => agents.get(source) ?? emptyImport();
  const fromHooks: number[] = [];
  const toRead: Found[] = [];
  const problems: string[] = [];
  let unseen = 0;
  const onProblem = (line: string, error: unknown): void => {
    problems.push(line);
    if (isOfSystem(error)) unseen++;
  };
  for await (const found of findSessions(deps, known, options.env, onProblem)) {
    const sums = of(found.source);
    sums.found++;
    if (found.state === "unchanged") sums.unchanged++;
    else if (options.sinceMs !== undefined && found.modifiedMs < options.sinceMs) sums.older++;
    else if (found.state === "known-from-hooks") {
      sums.fromHooks++;
      if (found.number !== undefined) fromHooks.push(found.number);
    } else toRead.push(found);
  }
  return { startMs, agents, of, fromHooks, toRead, problems, unseen };
}

function dryRun(found: Searched, { signal }: ImportOptions): ImportReport {
  for (const { source, bytes, state } of found.toRead) {
    const sums = found.of(source);
    sums.imported++;
    if (state === "reimport") sums.again++;
    sums.bytes += bytes;
  }
  return reportOf(found, found.problems, signal);
}

async function pass(drain: Drain, options: ImportOptions): Promise<ImportReport> {
  const { report } = drain;
  const known = await readKnown(drain, options, (ask) => ask(drain.db));
  const found = await search(drain, known, options);
  report.problems.push(...found.problems);
  await readAll(drain, found, options);
  return reportOf(found, report.problems, options.signal);
}

const reportOf = (
  { agents, fromHooks, startMs, unseen }: Searched,
  problems: readonly string[],
  { aborted: isStopped }: AbortSignal,
): ImportReport => ({
  agents,
  fromHooks,
  problems,
  unseen,
  isStopped,
  isDrainRequested: false,
  tookMs: performance.now() - startMs,
});

async function readAll(
  drain: Drain,
  { toRead, of }: Pick<Searched, "toRead" | "of">,
  options: ImportOptions,
): Promise<void> {
  const ofBytes = toRead.reduce((sum, { bytes }) => sum + bytes, 0);
  const writer = new ImportWriter(drain, ofBytes);
  writer.rebuildSums();
  // After everything that can fail: threads that are not closed keep the process alive
  const readers = options.readers(drain, ofBytes);
  const commitBytes = (left: number): number =>
    readers.readUnstarted === undefined
      ? BYTES_PER_COMMIT
      : Math.min(BYTES_PER_COMMIT, Math.max(LAST_BYTES_PER_COMMIT, left / 4));
  let [sessions, bytes, lastMs] = [0, 0, 0];
  const showProgress = (isLast: boolean): void => {
    if (!isLast && performance.now() - lastMs < PROGRESS_MS) return;
    lastMs = performance.now();
    options.onProgress({ sessions, ofSessions: toRead.length, bytes, ofBytes });
  };
  let batch: { readonly found: Found; readonly read: ReadSession }[] = [];
  let batchBytes = 0;
  const commit = async (): Promise<void> => {
    if (batch.length === 0) return;
    const kept = batch;
    batch = [];
    batchBytes = 0;
    const numbers = await writer.write(kept.map(({ read }) => read));
    // Lookups search every run, and each commit adds one
    mergeRuns(drain.db);
    for (const [i, { found, read }] of kept.entries()) {
      const sums = of(found.source);
      if (isIncomplete(found, read.result) || numbers[i] === "failed") sums.failed++;
      else if (numbers[i] === undefined) sums.leftOut++;
      else {
        sums.imported++;
        if (read.isReimport) sums.again++;
        sums.unfinished += read.result.files.filter(
          ({ endsInLine, modifiedMs }) => endsInLine && modifiedMs < drain.now() - WRITING_MS,
        ).length;
      }
    }
  };
  try {
    showProgress(false);
    for await (const { item: found, result } of inOrder(toRead, readers, options.signal)) {
      sessions++;
      bytes += found.bytes;
      const sums = of(found.source);
      sums.bytes += bytesOf(result);
      if (result instanceof Error) {
        sums.failed++;
        drain.report.problems.push(`could not read the session ${found.sessionId}: ${messageOf(result)}`);
      } else if (
        options.sinceMs !== undefined &&
        result.session !== undefined &&
        result.session.lastMs < options.sinceMs
      ) {
        sums.older++;
      } else {
        batch.push({ found, read: { task: found, result, isReimport: found.state === "reimport" } });
        batchBytes += found.bytes;
      }
      if (batchBytes >= commitBytes(ofBytes - bytes) || batch.length >= SESSIONS_PER_COMMIT) await commit();
      showProgress(false);
    }
    // Threads end while the last sessions are written
    const closed = readers.close();
    await commit();
    await closed;
    showProgress(true);
  } finally {
    await readers.close();
  }
}

/** Reads several groups at a time and yields results in order: a copy comes after its original. */
async function* inOrder(tasks: readonly Found[], readers: Readers, signal: AbortSignal) {
  const queue = new PQueue({ concurrency: readers.concurrency });
  const groups = groupsOf(tasks);
  const requestedGroups: Requested[] = [];
  let requestedBytes = 0;
  const requestMore = (): void => {
    while (
      requestedGroups.length < readers.concurrency &&
      (requestedGroups.length < 2 || requestedBytes < BYTES_AHEAD)
    ) {
      const group = groups.next().value;
      if (group === undefined) return;
      const answer = queue
        .add(() => readers.read(group.tasks))
        .catch((error: unknown) => group.tasks.map(() => (error instanceof Error ? error : new Error(String(error)))));
      const requested: Requested = { group, answer, isDone: false };
      answer.finally(() => {
        requested.isDone = true;
      });
      requestedGroups.push(requested);
      requestedBytes += group.bytes;
    }
  };
  // A large session delays the next ones, so these are read ahead up to a limit
  requestMore();
  try {
    for (let first = requestedGroups.shift(); first !== undefined; first = requestedGroups.shift()) {
      const { group, answer } = first;
      // Instead of waiting, read what no thread has started; messages are handled in between
      while (!first.isDone && !signal.aborted && (await readers.readUnstarted?.()) === true) await setImmediate();
      const results = await answer;
      requestedBytes -= group.bytes;
      requestMore();
      for (const [i, result] of results.entries()) {
        const item = group.tasks[i];
        if (item === undefined || signal.aborted) return;
        yield { item, result };
      }
    }
  } finally {
    queue.clear();
  }
}

/** A group that was requested from a reader. */
interface Requested {
  readonly group: Group;
  readonly answer: Promise<readonly (ReadResult | Error)[]>;
  isDone: boolean;
}

interface Group {
  readonly tasks: readonly Found[];
  readonly bytes: number;
}

/** Groups of sessions, in order: most sessions are small, and a message to a thread has a cost. */
function* groupsOf(tasks: readonly Found[]): Generator<Group, undefined> {
  let [group, bytes]: [Found[], number] = [[], 0];
  for (const task of tasks) {
    group.push(task);
    bytes += task.bytes;
    if (bytes < GROUP_BYTES && group.length < GROUP_SESSIONS) continue;
    yield { tasks: group, bytes };
    [group, bytes] = [[], 0];
  }
  if (group.length > 0) yield { tasks: group, bytes };
}

/** A system error, as opposed to a file that we refuse or do not understand. */
const isOfSystem = (error: unknown): boolean => error instanceof Error && "code" in error && error.code !== "E_REFUSED";

const bytesOf = (result: ReadResult | Error): number =>
  result instanceof Error ? 0 : result.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/** Whether a file of the session could not be read, or has only unreadable records. */
const isIncomplete = ({ files }: Found, result: ReadResult): boolean =>
  result.files.length < files.length ||
  (result.session === undefined && result.files.some(({ unreadable }) => unreadable > 0));

const emptyImport = (): AgentImport => ({
  found: 0,
  imported: 0,
  again: 0,
  unchanged: 0,
  fromHooks: 0,
  older: 0,
  leftOut: 0,
  failed: 0,
  unfinished: 0,
  bytes: 0,
});
