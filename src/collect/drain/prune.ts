import { lstat, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { isUnknown } from "#config/config-state.ts";
import { VERSION_METRICS } from "#core/telemetry/shapes.ts";
import { pruneAudit } from "#store/audit.ts";
import { forgetRetired, retireStreams, retireVersions } from "#store/cardinality.ts";
import { checkpoint, deferSync, syncEveryCommit } from "#store/database.ts";
import { addToMeta, LAST_PRUNE, PRUNED_SESSIONS, readMeta, writeMeta } from "#store/meta.ts";
import { isPacked } from "#store/packed.ts";
import { keptSessions, type Prunable, prunableSessions, pruneSession } from "#store/prune.ts";
import { releasePages } from "#store/vacuum.ts";
import { REASON_SUFFIX } from "../intake/inbox-dirs.ts";
import { hasNoClockJump } from "./clock.ts";
import type { Drain, Pruned } from "./context.ts";
import { deriveSession } from "./derive.ts";
import { readTranscripts } from "./read-transcripts.ts";

/** A prune that a user requested. The daily prune of a drain uses the configured age and a limited time. */
export interface PruneRequest {
  readonly olderThanMs: number;
  /** Also delete payloads that were quarantined this long ago. @default false */
  readonly quarantine?: boolean;
  /** Called repeatedly: how many of the sessions are pruned. */
  readonly onProgress?: (sessions: number, ofSessions: number) => void;
}

/** Prunes everything that is old enough, however long it takes, and frees the disk space. */
export async function prune(drain: Drain, request: PruneRequest): Promise<Pruned> {
  const { db, places } = drain;
  const beforeMs = drain.now() - request.olderThanMs;
  let [sessions, rows] = [0, 0];
  const ofSessions = prunableSessions(db, beforeMs, Number.MAX_SAFE_INTEGER).length;
  // Release pages while pruning: on a full disk there is room for a few sessions at a time only
  let freed = shrink(db);
  // Do not wait for the disk after each session, which took most of the time: what a power failure undoes is still in the store
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
  pruneAudit(db, beforeMs, drain.now());
  retireStreams(db, beforeMs);
  forgetRetired(db, beforeMs, drain.now());
  const kept = keptSessions(db, beforeMs, 0);
  checkpoint(db);
  return {
    sessions,
    rows,
    kept,
    quarantined: request.quarantine === true ? await pruneQuarantine(places.quarantineDir, beforeMs) : 0,
    freedBytes: freed,
  };
}

/** Sessions that would be pruned. Changes nothing. */
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

/** How many quarantined payloads would be deleted. */
export async function quarantinedBefore(dir: string, beforeMs: number): Promise<number> {
  return (await quarantinedFilesBefore(dir, beforeMs)).filter((name) => !name.endsWith(REASON_SUFFIX)).length;
}

/** Prunes by the configured age, once a day and for a second at most; the next drain continues. */
export async function pruneDaily(drain: Drain): Promise<void> {
  const { db, now, loaded } = drain;
  if (isUnknown(loaded, "store.retentionDays")) return;
  if (Math.abs(now() - Number(readMeta(db, LAST_PRUNE) ?? "0")) < DAY_MS || !hasNoClockJump(db, now())) return;
  const untilMs = performance.now() + BUDGET_MS;
  const beforeMs = now() - loaded.config.store.retentionDays * DAY_MS;
  let sessions = 0;
  while (performance.now() < untilMs) {
    const did = await pruneSome(drain, beforeMs, untilMs, false);
    sessions += did.sessions;
    if (did.isAll) {
      pruneAudit(db, beforeMs, now());
      retireStreams(db, beforeMs);
      retireVersions(db, VERSION_METRICS, now());
      forgetRetired(db, beforeMs, now());
      writeMeta(db, LAST_PRUNE, String(now()));
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

/** Frees pages. The file gets smaller only with the checkpoint. @returns how many bytes were freed */
function shrink(db: Drain["db"]): number {
  const freed = releasePages(db, Number.POSITIVE_INFINITY);
  checkpoint(db);
  return freed;
}

/** Prunes one batch. @returns `isAll`: no session is left that is old enough */
async function pruneSome(
  drain: Drain,
  beforeMs: number,
  untilMs: number,
  isOnRequest: boolean,
): Promise<{ readonly sessions: number; readonly rows: number; readonly isAll: boolean }> {
  const { db, now } = drain;
  const found = prunableSessions(db, beforeMs, SESSIONS_AT_ONCE, { isOnRequest });
  const packed = found.filter(({ id }) => isPacked(db, id));
  const rowsOfPacked = packed.length === 0 ? 0 : pruneInOneCommit(drain, packed);
  let [sessions, rows] = rowsOfPacked === undefined ? [0, 0] : [packed.length, rowsOfPacked];
  for (const session of rowsOfPacked === undefined ? found : found.filter((one) => !packed.includes(one))) {
    if (performance.now() >= untilMs) return { sessions, rows, isAll: false };
    // Count first what was written since the last drain; a session that continues is not pruned
    if (!isPacked(db, session.id)) {
      await readTranscripts(drain, session.id);
      deriveSession(drain, session.id, { patient: false });
      if (prunableSessions(db, beforeMs, 1, { only: session.id }).length === 0) continue;
    }
    rows += pruneSession(db, session, now());
    sessions++;
  }
  // Without progress the same sessions would be found again
  return { sessions, rows, isAll: found.length < SESSIONS_AT_ONCE || sessions === 0 };
}

/**
 * Prunes sessions in one commit: their digests are spread over the store, and each page is written only once.
 *
 * @returns how many rows were deleted; `undefined` if that failed, and nothing was deleted
 */
function pruneInOneCommit({ db, now }: Drain, sessions: readonly Prunable[]): number | undefined {
  try {
    return db.transaction(() => sessions.reduce((rows, session) => rows + pruneSession(db, session, now()), 0));
  } catch {
    // Fall back to one by one, so that earlier sessions are still pruned, as on a nearly full disk; that reports the error
    return undefined;
  }
}

function recordPruned({ db, log }: Drain, sessions: number): void {
  if (sessions === 0) return;
  addToMeta(db, PRUNED_SESSIONS, sessions);
  log(`pruned ${sessions} old ${sessions === 1 ? "session" : "sessions"}`);
}

/** @returns how many payloads were deleted */
async function pruneQuarantine(dir: string, beforeMs: number): Promise<number> {
  const names = await quarantinedFilesBefore(dir, beforeMs);
  for (const name of names) await unlink(join(dir, name)).catch(() => {});
  return names.filter((name) => !name.endsWith(REASON_SUFFIX)).length;
}

/** Quarantined files and their reasons. The age is that of the reason: a payload keeps the time of its event. */
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
