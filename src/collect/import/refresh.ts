import { cardOf } from "#core/rules/cards.ts";
import type { Behind } from "#kit/behind.ts";
import { type Database, StoreError } from "#store/database.ts";
import { readStore } from "#store/read-only.ts";
import type { DrainDeps } from "../drain/context.ts";
import { type Found, findSessions, type Known, readKnown } from "./find.ts";
import type { ImportOptions } from "./run.ts";

/** What a command that shows sessions did before it showed them. */
interface Refreshed {
  /** Number of sessions that were new or had grown, and are in the store now. */
  readonly imported: number;
  /** What does not fit into the time, so that a process in the background has to do it. */
  readonly behind?: Behind;
}

interface RefreshOptions {
  /** Environment variables that set the agents' folders. */
  readonly env: ImportOptions["env"];
  readonly spent: Spent;
}

/** What this process has used so far, in milliseconds. */
export interface Spent {
  readonly time: () => number;
  readonly processorTime: () => number;
}

/**
 * Imports what is new on this machine, if that is quick: searching compares names, sizes and times, and only a few megabytes are
 * read.
 *
 * @throws as `importSessions` does
 */
export async function refresh(deps: DrainDeps, options: RefreshOptions): Promise<Refreshed> {
  const news = await newsOf(deps, options).catch((error: unknown) => upgradedNews(error, deps, options));
  if (news === undefined) return { imported: 0, behind: { bytes: 0 } };
  // What hooks have reported is read by a drain, which also sends it
  const [ours, fromHooks] = [news.filter(isOurs), news.filter((found) => !isOurs(found))];
  const isQuick = bytesOf(ours) <= MAX_BYTES;
  const imported = isQuick && ours.length > 0 ? await importNow(deps, ours, options) : 0;
  if (imported === undefined) return { imported: 0, behind: { ...sizeOf(news), isRunning: true } };
  const behind = isQuick ? fromHooks : news;
  return { imported, ...(behind.length > 0 && { behind: sizeOf(behind) }) };
}

// --- internal ---

/** A store of an earlier version, as after an update of this program, is brought up to date as an import does. */
async function upgradedNews(error: unknown, deps: DrainDeps, options: RefreshOptions): ReturnType<typeof newsOf> {
  if (!(error instanceof StoreError) || error.code !== "E_STORE_OLDER") throw error;
  await importNow(deps, [], options);
  return newsOf(deps, options);
}

const isOurs = ({ state }: Found): boolean => state !== "known-from-hooks";
const bytesOf = (all: readonly Found[]): number => all.reduce((sum, { bytes }) => sum + bytes, 0);
const sizeOf = (all: readonly Found[]): Behind => ({ sessions: all.length, bytes: bytesOf(all) });

/** Read and stored in about 50 ms. */
const MAX_BYTES = 8 << 20;
/** A search of thousands of sessions takes a tenth of it. Processor time, because on a busy machine any search can take long. */
const SEARCH_CPU_MS = 250;
/** For disks that answer slowly. */
const SEARCH_MS = 1_000;

/** Sessions that an import would read; `undefined` if searching took too long. */
async function newsOf(deps: DrainDeps, { env, spent }: RefreshOptions): Promise<readonly Found[] | undefined> {
  const sources = deps.agents.filter(({ transcript }) => transcript !== undefined).map(({ source }) => source);
  // Usually nothing is new, and then the sessions in the store are not needed
  const files = await readKnown(deps, { agents: sources, env }, (ask) => withStore(deps, ask, NO_SESSIONS));
  const [startMs, startCpuMs] = [spent.time(), spent.processorTime()];
  const isLate = (): boolean => {
    const tookMs = spent.time() - startMs;
    // Reading the processor time takes longer than looking at a file, so it is read only if needed
    return tookMs > SEARCH_MS || (tookMs > SEARCH_CPU_MS && spent.processorTime() - startCpuMs > SEARCH_CPU_MS);
  };
  const changed = await changedOf(deps, files, env, isLate);
  if (changed === undefined || changed.length === 0) return changed;
  const known = await readKnown(deps, { agents: [...new Set(changed.map(({ source }) => source))], env }, (ask) =>
    withStore(deps, ask),
  );
  return changedOf(deps, known, env, isLate);
}

async function changedOf(
  deps: DrainDeps,
  known: Known,
  env: RefreshOptions["env"],
  isLate: () => boolean,
): Promise<readonly Found[] | undefined> {
  const changed: Found[] = [];
  for await (const found of findSessions(deps, known, env, () => {})) {
    if (found.state !== "unchanged") changed.push(found);
    if (isLate()) return undefined;
  }
  return changed;
}

const NO_SESSIONS: Known["sessions"] = () => new Map();

/** What `ask` reads from the store. Its sessions are read now unless `sessions` replaces them, because the store is closed on return. */
function withStore(
  { places }: DrainDeps,
  ask: (db: Database | undefined) => Known,
  sessions?: Known["sessions"],
): Known {
  return (
    readStore(places.storePath, (db) => {
      const known = ask(db);
      if (sessions !== undefined) return { ...known, sessions };
      known.sessions();
      return known;
    }) ?? ask(undefined)
  );
}

/** @returns number of sessions; `undefined` while another drain or import is at work */
async function importNow(
  deps: DrainDeps,
  news: readonly Found[],
  { env }: RefreshOptions,
): Promise<number | undefined> {
  const [{ importSessions }, { readersInThisThread }] = await Promise.all([import("./run.ts"), import("./readers.ts")]);
  const report = await importSessions(deps, {
    agents: [...new Set(news.map(({ source }) => source))],
    env,
    readers: (drain) => readersInThisThread((source) => cardOf(drain, source), drain),
    dryRun: false,
    onProgress: () => {},
    signal: new AbortController().signal,
  });
  return report && [...report.agents.values()].reduce((sum, { imported }) => sum + imported, 0);
}
