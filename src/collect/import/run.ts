import { registeredFolders } from "#config/backup.ts";
import { protectionOf } from "#core/privacy/protection.ts";
import { applyCaptureSettings, withLastKnownLevel } from "#store/capture/apply-settings.ts";
import { checkpoint, deferSync } from "#store/database.ts";
import { withDrainLock } from "#store/lock.ts";
import { lockOf } from "#store/lock-holder.ts";
import { mergeRuns, tornSessions } from "#store/packed.ts";
import { readStore } from "#store/read-only.ts";
import { NO_BRIDGE } from "../bridge/bridge.ts";
import { type Drain, type DrainDeps, type DrainReport, emptyReport } from "../drain/context.ts";
import { ensureInstance } from "../drain/instance.ts";
import { ensurePrivateState, withStore } from "../drain/open.ts";
import { addMovedRoots } from "../transcripts/transcript-roots.ts";
import { unreadFormats } from "../transcripts/unread-formats.ts";
import { fillPrices } from "./fill-prices.ts";
import { type Found, findSessions, type Known, readKnown } from "./find.ts";
import type { AgentImport } from "./import-counts.ts";
import type { ReadOptions } from "./read-all.ts";

export interface ImportOptions extends ReadOptions {
  /** Sources of the agents to import. */
  readonly agents: readonly string[];
  /** Environment variables that set the agents' folders. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Also read imported sessions that have not changed. @default those that another version imported */
  readonly again?: boolean;
  /** Write nothing, and create no store. */
  readonly dryRun: boolean;
}

/** The result of an import. */
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
    const registered = await registeredFolders(deps.places.backupDir);
    const known = await readKnown(
      safe,
      { ...options, registered },
      (ask) => readStore(safe.places.storePath, (db) => withSessions(ask(db))) ?? ask(undefined),
    );
    return dryRun(await search(safe, known, options), options);
  }
  await ensurePrivateState(safe);
  let done: ImportReport | undefined;
  const hadLock = await withDrainLock(lockOf(deps.places.stateDir), (_, progress) =>
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
        exporting: new Set(),
        unreadSessions: new Set(),
        bridge: NO_BRIDGE,
        progress,
      };
      progress.note("import");
      // Checkpoint a few times instead of after each commit
      db.prepare(`PRAGMA wal_autocheckpoint = ${PAGES_PER_CHECKPOINT}`).get();
      db.prepare(`PRAGMA cache_size = -${CACHE_KILOBYTES}`).all();
      ensureInstance(drain);
      applyCaptureSettings(drain);
      deferSync(db);
      await fillPrices(drain);
      done = await pass(drain, options);
      mergeRuns(db);
      checkpoint(db);
    }),
  );
  if (!hadLock || done === undefined) return undefined;
  return { ...done, problems: done.problems.map(protection.redactSecrets) };
}

// --- internal ---

/** 4 MB: the last checkpoint runs while no thread reads. */
const PAGES_PER_CHECKPOINT = 1_024;
/** Holds all pages of a commit: evicted pages would be written twice. */
const CACHE_KILOBYTES = 6_000;

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
  problems.push(...(await unreadFormats({ ...deps, env: options.env }, options.agents)));
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
  // Stored, so that reports and the page find these sessions too
  for (const [source, folders] of await registeredFolders(drain.places.backupDir))
    addMovedRoots(drain, source, folders);
  const known = await readKnown(drain, options, (ask) => ask(drain.db));
  const found = await search(drain, known, options);
  report.problems.push(...found.problems);
  // Usually nothing is new, and then the code that reads and writes sessions is not loaded
  if (found.toRead.length > 0 || tornSessions(drain.db).length > 0) {
    const { readAll } = await import("./read-all.ts");
    await readAll(drain, found.toRead, found.of, options);
  }
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

/** A system error, as opposed to a file that we refuse or do not understand. */
const isOfSystem = (error: unknown): boolean => error instanceof Error && "code" in error && error.code !== "E_REFUSED";

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
