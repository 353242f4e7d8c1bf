import { join } from "node:path";
import PQueue from "p-queue";
import { deliver } from "./drain/deliver.ts";
import { type Drain, type DrainDeps, type DrainReport, emptyReport } from "./drain/deps.ts";
import { deriveSession } from "./drain/derive.ts";
import { openStore } from "./drain/open.ts";
import { readTranscripts } from "./drain/read.ts";
import { takeInbox } from "./drain/take.ts";
import { ensureStateDirs } from "./intake/inbox.ts";
import { withDrainLock } from "./store/lock.ts";
import { writeMeta } from "./store/meta.ts";
import { activeSessions, idleSessions, sessionById, unsettledSessions } from "./store/sessions.ts";

/** What a drain is asked for beside its daily work. */
export interface DrainOptions {
  /** End every open session now, whatever its age. */
  readonly endIdle?: boolean;
}

/**
 * One drain: inbox → store → session → spans and counters → backend. One at a time per state directory; when another is
 * at work, that one looks again and this one is done.
 *
 * @returns what was done; `undefined` when another drain does it
 * @throws StoreError when the store cannot be used; everything that waits keeps waiting
 */
export async function drain(deps: DrainDeps, options: DrainOptions = {}): Promise<DrainReport | undefined> {
  const report = emptyReport();
  await ensureStateDirs(deps.places);
  const worked = await withDrainLock(join(deps.places.stateDir, "drain.lock"), async () => {
    const db = openStore(deps);
    const work: Drain = { ...deps, db, report };
    try {
      await pass(work, options);
      writeMeta(db, "last_drain", JSON.stringify({ atMs: deps.now(), ...report, problems: report.problems.slice(-5) }));
    } finally {
      db.close();
    }
  });
  return worked ? report : undefined;
}

// --- internal ---

/** Sessions whose transcripts are read at once; reading waits for the disk more than for us. */
const READERS = 4;
/** Agents write the last line of a turn up to a second after its hook ran; measured, see the agents' READMEs. */
const LATE_LINES_MS = 2_000;
const LOOK_AGAIN_MS = 100;
/** Some write it only after their last hook: sessions are looked at again by the drains of this long. */
const LATE_FILES_MS = 3_600_000;
/** More of them than this are not worth their time. */
const LATE_SESSIONS = 50;

async function pass(work: Drain, options: DrainOptions): Promise<void> {
  const touched = await takeInbox(work);
  const late = activeSessions(work.db, work.now() - LATE_FILES_MS, LATE_SESSIONS);
  const sessions = await read(work, new Set([...touched, ...unsettledSessions(work.db), ...late]));
  let awaiting = derive(work, sessions);
  const untilMs = work.now() + LATE_LINES_MS;
  while (awaiting.size > 0 && work.now() < untilMs) {
    await work.sleep(LOOK_AGAIN_MS);
    const news = await takeInbox(work);
    const again = await read(work, new Set([...awaiting, ...news]));
    awaiting = derive(work, again);
  }
  for (const session of awaiting) deriveSession(work, session, { patient: false });
  await endIdle(work, options);
  await deliver(work);
}

/** @returns the sessions that what was read belongs to */
async function read(work: Drain, sessions: ReadonlySet<number>): Promise<ReadonlySet<number>> {
  const readers = new PQueue({ concurrency: READERS });
  return new Set(await readers.addAll([...sessions].map((session) => () => readTranscripts(work, session))));
}

/** @returns the sessions worth waiting for: lines come late by moments, what is older has been said or never will be */
function derive(work: Drain, sessions: ReadonlySet<number>): ReadonlySet<number> {
  const isFresh = (session: number): boolean => work.now() - sessionById(work.db, session).lastMs < LATE_LINES_MS;
  return new Set([...sessions].filter((session) => deriveSession(work, session, { patient: isFresh(session) })));
}

/** A session that went silent is ended by us; its transcript has the last word on whether it did. */
async function endIdle(work: Drain, options: DrainOptions): Promise<void> {
  const { idleTimeoutMs } = work.loaded.config.session;
  const sinceMs = options.endIdle === true ? Number.POSITIVE_INFINITY : work.now() - idleTimeoutMs;
  const idle = new Set(idleSessions(work.db, sinceMs));
  await read(work, idle);
  for (const session of idle) {
    if (sessionById(work.db, session).lastMs >= sinceMs) continue;
    const nativeReason = options.endIdle === true ? "ended_by_user" : "idle";
    deriveSession(work, session, { patient: false, endIdle: { reason: "timeout", nativeReason } });
  }
}
