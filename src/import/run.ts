import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import PQueue from "p-queue";
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
import { type Found, findSessions, type Known, lookUp } from "./find.ts";
import { type Arrived, ImportWriter } from "./import-writer.ts";
import type { ReadResult } from "./read.ts";
import type { Readers } from "./readers.ts";

export interface ImportOptions {
  /** Sources of the agents whose past is wanted. */
  readonly agents: readonly string[];
  /** Variables that move the agents' folders. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Sessions whose last activity is before this stay out. */
  readonly sinceMs?: number;
  /** Read also what was imported and has not changed. @default what another version of this program has imported */
  readonly again?: boolean;
  /** Look only: nothing is written, and no store is made. */
  readonly dryRun: boolean;
  /** Called once it is known how many bytes there are to read. */
  readonly readers: (drain: Drain, bytes: number) => Readers;
  /** From now and then; cheap. */
  readonly onProgress: (progress: ImportProgress) => void;
  /** Stops after the sessions that are being written. */
  readonly signal: AbortSignal;
}

export interface ImportProgress {
  readonly sessions: number;
  readonly ofSessions: number;
  readonly bytes: number;
  readonly ofBytes: number;
}

/** What became of the sessions of one agent. */
export interface AgentImport {
  found: number;
  /** Now in the store, or more of them than before. */
  imported: number;
  /** Of these, those that were imported before and have not changed. */
  again: number;
  /** Nothing new since the last import. */
  unchanged: number;
  /** Hooks told of them, and something is new: the drain that follows reads it. */
  told: number;
  /** Before `sinceMs`. */
  older: number;
  /** Excluded by their project, or nothing of a session is in their files. */
  leftOut: number;
  /** Not all of them could be read, what could is kept; tried again by the next import. */
  failed: number;
  /** Files that were read and have ended inside a line for a while: what is in it is not counted. */
  unfinished: number;
  /** Read by now; for a dry run what would be read. */
  bytes: number;
}

export interface ImportReport {
  readonly agents: ReadonlyMap<string, AgentImport>;
  /** Numbers of the sessions that hooks told of and that have something new. */
  readonly told: readonly number[];
  readonly problems: readonly string[];
  /** Folders and sessions that could not be looked at; what is of a form that nobody reads is none of them. */
  readonly unseen: number;
  readonly isStopped: boolean;
  /** A hook asked for a drain meanwhile: what it told is in the inbox. */
  readonly isDrainAsked: boolean;
  readonly tookMs: number;
}

/**
 * Past sessions → store. They stay on this machine: what is imported is packed, and nothing of it waits to be sent.
 *
 * Each commit holds whole sessions with where their files end: an import that is stopped, or killed, goes on where it was.
 *
 * @returns `undefined` when a drain is at work
 * @throws StoreError when the store cannot be used, StateError when the state directory is another user's
 */
export async function importSessions(deps: DrainDeps, options: ImportOptions): Promise<ImportReport | undefined> {
  const protection = await protectionOf(deps.loaded.config.redaction, deps.places.home);
  const safe = { ...protection, ...deps };
  const report: DrainReport = emptyReport();
  if (options.dryRun) {
    const whole = (known: Known): Known => {
      known.sessions();
      return known;
    };
    const known = await lookUp(
      safe,
      options.agents,
      options.again === true,
      (ask) => readStore(safe.places.storePath, (db) => whole(ask(db))) ?? ask(undefined),
    );
    return dryRun(await search(safe, known, options), options);
  }
  await ensurePrivateState(safe);
  let done: ImportReport | undefined;
  const worked = await withDrainLock(join(deps.places.stateDir, "drain.lock"), () =>
    withStore({ ...safe, report, isImport: true }, async (db) => {
      // A drain that came meanwhile has left a note
      if (done !== undefined) {
        done = { ...done, isDrainAsked: true };
        return;
      }
      const loaded = withLastKnownLevel(db, deps.loaded);
      const drain: Drain = { ...safe, loaded, db, report, partlyReadUntilMs: new Map(), startedSessions: new Set() };
      // What is committed moves on into the file a few times, and not after each commit
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
  if (!worked || done === undefined) return undefined;
  return { ...done, problems: done.problems.map(protection.redactSecrets) };
}

// --- internal ---

/** Of sessions that were read: enough that a commit's fsync is shared, little enough to hold and to lose. */
const BYTES_PER_COMMIT = 256 << 20;
const SESSIONS_PER_COMMIT = 500;
/** Less and less towards the end, where threads read: what this one still has to write then, nobody does beside it. */
const LAST_BYTES_PER_COMMIT = 16 << 20;
/** Of sessions that are read before those in front of them are written: what comes of them is held. */
const BYTES_AHEAD = 512 << 20;
/** 4 MB: what is left for the end is written while nobody reads. */
const PAGES_PER_CHECKPOINT = 1_024;
/** What a commit writes is held until then: pages that had to make room would be written twice. */
const CACHE_KILOBYTES = 6_000;
/** Of sessions that are asked for together: little enough that threads end at about the same time. */
const GROUP_BYTES = 4 << 20;
const GROUP_SESSIONS = 32;
const PROGRESS_MS = 100;
/** Whoever has not gone on with a line for so long has stopped in it. */
const WRITING_MS = 10 * 60_000;

/** What is there to import. */
interface Searched {
  readonly startMs: number;
  readonly agents: ReadonlyMap<string, AgentImport>;
  readonly of: (source: string) => AgentImport;
  readonly told: readonly number[];
  readonly toRead: readonly Found[];
  readonly problems: readonly string[];
  readonly unseen: number;
}

async function search(deps: DrainDeps, known: Known, options: ImportOptions): Promise<Searched> {
  const startMs = performance.now();
  const agents = new Map(options.agents.map((source) => [source, emptyImport()]));
  const of = (source: string): AgentImport => agents.get(source) ?? emptyImport();
  const told: number[] = [];
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
    else if (found.state === "told") {
      sums.told++;
      if (found.number !== undefined) told.push(found.number);
    } else toRead.push(found);
  }
  return { startMs, agents, of, told, toRead, problems, unseen };
}

function dryRun(found: Searched, { signal }: ImportOptions): ImportReport {
  for (const { source, bytes, state } of found.toRead) {
    const sums = found.of(source);
    sums.imported++;
    if (state === "again") sums.again++;
    sums.bytes += bytes;
  }
  return reportOf(found, found.problems, signal);
}

async function pass(drain: Drain, options: ImportOptions): Promise<ImportReport> {
  const { report } = drain;
  const known = await lookUp(drain, options.agents, options.again === true, (ask) => ask(drain.db));
  const found = await search(drain, known, options);
  report.problems.push(...found.problems);
  await readAll(drain, found, options);
  return reportOf(found, report.problems, options.signal);
}

const reportOf = (
  { agents, told, startMs, unseen }: Searched,
  problems: readonly string[],
  { aborted: isStopped }: AbortSignal,
): ImportReport => ({
  agents,
  told,
  problems,
  unseen,
  isStopped,
  isDrainAsked: false,
  tookMs: performance.now() - startMs,
});

async function readAll(
  drain: Drain,
  { toRead, of }: Pick<Searched, "toRead" | "of">,
  options: ImportOptions,
): Promise<void> {
  const ofBytes = toRead.reduce((sum, { bytes }) => sum + bytes, 0);
  const keeper = new ImportWriter(drain, ofBytes);
  keeper.mend();
  // After what can fail: threads that nobody closes keep the process alive
  const readers = options.readers(drain, ofBytes);
  const enough = (left: number): number =>
    readers.help === undefined
      ? BYTES_PER_COMMIT
      : Math.min(BYTES_PER_COMMIT, Math.max(LAST_BYTES_PER_COMMIT, left / 4));
  let [sessions, bytes, lastMs] = [0, 0, 0];
  const tell = (isLast: boolean): void => {
    if (!isLast && performance.now() - lastMs < PROGRESS_MS) return;
    lastMs = performance.now();
    options.onProgress({ sessions, ofSessions: toRead.length, bytes, ofBytes });
  };
  let batch: { readonly found: Found; readonly arrived: Arrived }[] = [];
  let batchBytes = 0;
  const commit = async (): Promise<void> => {
    if (batch.length === 0) return;
    const kept = batch;
    batch = [];
    batchBytes = 0;
    const numbers = await keeper.keep(kept.map(({ arrived }) => arrived));
    // Each copy of another session made one, and the next copies are looked up in all of them
    mergeRuns(drain.db);
    for (const [i, { found, arrived }] of kept.entries()) {
      const sums = of(found.source);
      if (isTorn(found, arrived.result)) sums.failed++;
      else if (numbers[i] === undefined) sums.leftOut++;
      else {
        sums.imported++;
        if (arrived.isAgain) sums.again++;
        sums.unfinished += arrived.result.files.filter(
          ({ endsInLine, modifiedMs }) => endsInLine && modifiedMs < drain.now() - WRITING_MS,
        ).length;
      }
    }
  };
  try {
    tell(false);
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
        batch.push({ found, arrived: { task: found, result, isAgain: found.state === "again" } });
        batchBytes += found.bytes;
      }
      if (batchBytes >= enough(ofBytes - bytes) || batch.length >= SESSIONS_PER_COMMIT) await commit();
      tell(false);
    }
    // Threads take their time to end, and have it while the last ones are written
    const closed = readers.close();
    await commit();
    await closed;
    tell(true);
  } finally {
    await readers.close();
  }
}

/** Reads several at once and gives them in their order: who copied another's history comes after it. */
async function* inOrder(tasks: readonly Found[], readers: Readers, signal: AbortSignal) {
  const queue = new PQueue({ concurrency: readers.concurrency });
  const groups = groupsOf(tasks);
  const waiting: Asked[] = [];
  let askedBytes = 0;
  const ask = (): void => {
    while (waiting.length < readers.concurrency && (waiting.length < 2 || askedBytes < BYTES_AHEAD)) {
      const group = groups.next().value;
      if (group === undefined) return;
      const answer = queue
        .add(() => readers.read(group.tasks))
        .catch((error: unknown) => group.tasks.map(() => (error instanceof Error ? error : new Error(String(error)))));
      const asked: Asked = { group, answer, isThere: false };
      answer.finally(() => {
        asked.isThere = true;
      });
      waiting.push(asked);
      askedBytes += group.bytes;
    }
  };
  // One that is large holds up those behind it; they may be read meanwhile, but not without end
  ask();
  try {
    for (let first = waiting.shift(); first !== undefined; first = waiting.shift()) {
      const { group, answer } = first;
      // Rather than wait for others, this thread reads what none of them has begun; what they say is heard in between
      while (!first.isThere && !signal.aborted && (await readers.help?.()) === true) await setImmediate();
      const results = await answer;
      askedBytes -= group.bytes;
      ask();
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

/** Sessions that were given to a reader. */
interface Asked {
  readonly group: Group;
  readonly answer: Promise<readonly (ReadResult | Error)[]>;
  isThere: boolean;
}

interface Group {
  readonly tasks: readonly Found[];
  readonly bytes: number;
}

/** Sessions that are asked for together, in their order: most are small, and a message to a thread and back takes its time. */
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

/** Not that something is of no use to us, but that it could not be come at. */
const isOfSystem = (error: unknown): boolean => error instanceof Error && "code" in error && error.code !== "E_REFUSED";

const bytesOf = (result: ReadResult | Error): number =>
  result instanceof Error ? 0 : result.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/** A file of it could not be read, or holds nothing that makes sense. */
const isTorn = ({ files }: Found, result: ReadResult): boolean =>
  result.files.length < files.length ||
  (result.session === undefined && result.files.some(({ unreadable }) => unreadable > 0));

const emptyImport = (): AgentImport => ({
  found: 0,
  imported: 0,
  again: 0,
  unchanged: 0,
  told: 0,
  older: 0,
  leftOut: 0,
  failed: 0,
  unfinished: 0,
  bytes: 0,
});
