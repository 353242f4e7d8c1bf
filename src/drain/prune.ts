import { lstat, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { isUnknown } from "../config/unknown.ts";
import { REASON_SUFFIX } from "../intake/inbox-dirs.ts";
import { checkpoint, deferSync, syncEveryCommit } from "../store/database.ts";
import { addToMeta, readMeta, writeMeta } from "../store/meta.ts";
import { PRUNED, PRUNED_SESSIONS } from "../store/meta-keys.ts";
import { isPacked } from "../store/packed.ts";
import { keptSessions, type Prunable, prunableSessions, pruneSession } from "../store/prune.ts";
import { releasePages, spaceOf, vacuum } from "../store/vacuum.ts";
import { hasNoClockJump } from "./clock-jump.ts";
import type { Drain } from "./context.ts";
import { deriveSession } from "./derive.ts";
import type { Pruned } from "./pruned.ts";
import { readTranscripts } from "./read-transcripts.ts";

/** What a user asks for; a drain asks for the setting's age and for as much as fits into its time. */
export interface PruneRequest {
  readonly olderThanMs: number;
  /** Also payloads that were set aside this long ago. @default false */
  readonly quarantine?: boolean;
  /** From now and then: how many of the sessions that are to go have gone. */
  readonly onProgress?: (sessions: number, ofSessions: number) => void;
}

/** All that is old enough, however long it takes, and the space of it given back. */
export async function prune(drain: Drain, request: PruneRequest): Promise<Pruned> {
  const { db, places } = drain;
  const beforeMs = drain.now() - request.olderThanMs;
  let [sessions, rows] = [0, 0];
  const ofSessions = prunableSessions(db, beforeMs, Number.MAX_SAFE_INTEGER).length;
  // As it goes: on a disk that is full there is room for a few sessions at a time
  let freed = shrink(db);
  // What a power failure undoes is there again, whole: waiting for the disk after each session was most of the time
  deferSync(db);
  try {
    for (;;) {
      const did = await pruneSome(drain, beforeMs, Number.POSITIVE_INFINITY, true);
      if (did.sessions === 0) break;
      sessions += did.sessions;
      rows += did.rows;
      freed += shrink(db);
      request.onProgress?.(sessions, ofSessions);
    }
  } finally {
    syncEveryCommit(db);
  }
  recordPruned(drain, sessions);
  const kept = keptSessions(db, beforeMs, 0);
  const { freePages, pages, isIncremental } = spaceOf(db);
  const anew = !isIncremental && freePages > pages * WORTH_IT ? vacuum(db, places.storePath) : 0;
  checkpoint(db);
  return {
    sessions,
    rows,
    kept,
    quarantined: request.quarantine === true ? await pruneQuarantine(places.quarantineDir, beforeMs) : 0,
    freedBytes: freed + (typeof anew === "number" ? anew : 0),
    ...(typeof anew === "string" && { notSmaller: anew }),
  };
}

/** Sessions that would go. Looks only. */
export function pruneDryRun(
  db: Drain["db"],
  beforeMs: number,
): Pick<Pruned, "sessions" | "kept"> & { readonly oldestMs?: number } {
  const found = prunableSessions(db, beforeMs, Number.MAX_SAFE_INTEGER);
  const [oldest] = found;
  return {
    sessions: found.length,
    kept: keptSessions(db, beforeMs, found.length),
    ...(oldest !== undefined && { oldestMs: oldest.lastMs }),
  };
}

/** How many payloads that were set aside would go. */
export async function quarantinedBefore(dir: string, beforeMs: number): Promise<number> {
  return (await quarantinedFilesBefore(dir, beforeMs)).filter((name) => !name.endsWith(REASON_SUFFIX)).length;
}

/** What a drain does by itself, once a day and for no longer than a moment; the rest is for the next one. */
export async function pruneDaily(drain: Drain): Promise<void> {
  const { db, now, loaded } = drain;
  if (isUnknown(loaded, "store.retentionDays")) return;
  if (Math.abs(now() - Number(readMeta(db, PRUNED) ?? "0")) < DAY_MS || !hasNoClockJump(db, now())) return;
  const untilMs = performance.now() + BUDGET_MS;
  const beforeMs = now() - loaded.config.store.retentionDays * DAY_MS;
  let sessions = 0;
  while (performance.now() < untilMs) {
    const did = await pruneSome(drain, beforeMs, untilMs, false);
    sessions += did.sessions;
    if (did.isAll) {
      writeMeta(db, PRUNED, String(now()));
      break;
    }
  }
  recordPruned(drain, sessions);
  releasePages(db, untilMs);
}

// --- internal ---

const DAY_MS = 86_400_000;
const BUDGET_MS = 1_000;
const SESSIONS_AT_ONCE = 50;
/** A quarter of the file. */
const WORTH_IT = 0.25;

/** @returns by how many bytes the store's file is smaller: it is only once its log has been brought into it */
function shrink(db: Drain["db"]): number {
  const freed = releasePages(db, Number.POSITIVE_INFINITY);
  checkpoint(db);
  return freed;
}

/** @returns `isAll`: nothing is left that is old enough */
async function pruneSome(
  drain: Drain,
  beforeMs: number,
  untilMs: number,
  isAsked: boolean,
): Promise<{ readonly sessions: number; readonly rows: number; readonly isAll: boolean }> {
  const { db, now } = drain;
  const found = prunableSessions(db, beforeMs, SESSIONS_AT_ONCE, { isAsked });
  const packed = found.filter(({ id }) => isPacked(db, id));
  const rowsOfPacked = packed.length === 0 ? 0 : pruneInOneCommit(drain, packed);
  let [sessions, rows] = rowsOfPacked === undefined ? [0, 0] : [packed.length, rowsOfPacked];
  for (const session of rowsOfPacked === undefined ? found : found.filter((one) => !packed.includes(one))) {
    if (performance.now() >= untilMs) return { sessions, rows, isAll: false };
    // What was written after anybody last looked is counted first; a session that goes on has it stay
    if (!isPacked(db, session.id)) {
      await readTranscripts(drain, session.id);
      deriveSession(drain, session.id, { patient: false });
      if (prunableSessions(db, beforeMs, 1, { only: session.id }).length === 0) continue;
    }
    rows += pruneSession(db, session, now());
    sessions++;
  }
  // Those that were looked at and stay would be found again and again
  return { sessions, rows, isAll: found.length < SESSIONS_AT_ONCE || sessions === 0 };
}

/**
 * In one commit: their digests lie all over the store, and each page is written once for all of them.
 *
 * @returns how many rows went; `undefined` where they could not, and all of them are still there
 */
function pruneInOneCommit({ db, now }: Drain, sessions: readonly Prunable[]): number | undefined {
  try {
    return db.transaction(() => sessions.reduce((rows, session) => rows + pruneSession(db, session, now()), 0));
  } catch {
    // One by one those before the one that fails still go, as on a disk that is nearly full; what is wrong is told then
    return undefined;
  }
}

function recordPruned({ db, log }: Drain, sessions: number): void {
  if (sessions === 0) return;
  addToMeta(db, PRUNED_SESSIONS, sessions);
  log(`took ${sessions} old ${sessions === 1 ? "session" : "sessions"} out of the store`);
}

/** @returns how many payloads went */
async function pruneQuarantine(dir: string, beforeMs: number): Promise<number> {
  const names = await quarantinedFilesBefore(dir, beforeMs);
  for (const name of names) await unlink(join(dir, name)).catch(() => {});
  return names.filter((name) => !name.endsWith(REASON_SUFFIX)).length;
}

/** By when they were set aside: a payload keeps the time of its event. */
async function quarantinedFilesBefore(dir: string, beforeMs: number): Promise<readonly string[]> {
  const names = await readdir(dir).catch(() => []);
  const old: string[] = [];
  for (const name of names) {
    if (name.startsWith(".") || name.endsWith(REASON_SUFFIX)) continue;
    const found = await lstat(join(dir, name)).catch(() => undefined);
    if (found === undefined || found.isDirectory()) continue;
    const reason = await lstat(join(dir, `${name}${REASON_SUFFIX}`)).catch(() => undefined);
    if ((reason ?? found).mtimeMs >= beforeMs) continue;
    old.push(name, ...(reason === undefined ? [] : [`${name}${REASON_SUFFIX}`]));
  }
  return old;
}
