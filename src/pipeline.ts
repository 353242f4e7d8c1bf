import { join } from "node:path";
import PQueue from "p-queue";
import { applyCaptureSettings, withLastKnownLevel } from "./capture/apply-settings.ts";
import { removeRemnants } from "./capture/remnants.ts";
import { type Drain, type DrainDeps, type DrainReport, emptyReport } from "./drain/context.ts";
import { deliver } from "./drain/deliver.ts";
import { deriveSession } from "./drain/derive.ts";
import { ensureInstance } from "./drain/instance.ts";
import { checkStore } from "./drain/integrity-check.ts";
import { withStore } from "./drain/open.ts";
import { ensurePrivateState } from "./drain/private-state.ts";
import { type PruneRequest, prune, pruneDaily } from "./drain/prune.ts";
import { readInbox } from "./drain/read-inbox.ts";
import { readTranscripts } from "./drain/read-transcripts.ts";
import { measureDrain } from "./drain/self-telemetry.ts";
import { ENDED_BY_USER, ENDED_IDLE } from "./model/session.ts";
import { protectionOf } from "./privacy/protection.ts";
import { withDrainLock } from "./store/lock.ts";
import { writeMeta } from "./store/meta.ts";
import { unfinishedSessions } from "./store/positions.ts";
import { clearOldDrift } from "./store/self.ts";
import { activeSessions, correctTimes, idleSessions, sessionById, unsettledSessions } from "./store/sessions.ts";

/** What a drain is asked for beside its daily work. */
export interface DrainOptions {
  /** End every open session now, whatever its age. */
  readonly endIdle?: boolean;
  /** Asked for by hand: a backend that failed lately is asked at once. */
  readonly isEager?: boolean;
  /** In the place of sending: for a look at what would leave. */
  readonly deliver?: typeof deliver;
  /** Numbers of sessions whose transcripts have something new, whether or not hooks told. */
  readonly sessions?: readonly number[];
  /** Take old sessions out of the store, after all else is done. */
  readonly prune?: PruneRequest;
}

/**
 * One drain: inbox → store → session → spans and counters → backend. One at a time per state directory; when another is
 * at work, that one looks again and this one is done.
 *
 * @returns what was done; `undefined` when another drain does it
 * @throws StoreError when the store cannot be used, RuleError when a redaction rule cannot, StateError when the state directory is another user's; everything that waits keeps waiting
 */
export async function drain(deps: DrainDeps, options: DrainOptions = {}): Promise<DrainReport | undefined> {
  const report = emptyReport();
  const protection = await protectionOf(deps.loaded.config.redaction, deps.places.home);
  const safe = { ...protection, ...deps, log: (line: string) => deps.log(protection.redactSecrets(line)) };
  await ensurePrivateState(safe);
  const worked = await withDrainLock(join(deps.places.stateDir, "drain.lock"), () =>
    withStore({ ...safe, report }, async (db) => {
      const loaded = withLastKnownLevel(db, deps.loaded);
      const work: Drain = { ...safe, loaded, db, report, partlyReadUntilMs: new Map(), startedSessions: new Set() };
      await measureDrain(work, () => pass(work, options));
      report.problems = report.problems.map(protection.redactSecrets);
      writeMeta(db, "last_drain", JSON.stringify({ atMs: deps.now(), ...report, problems: report.problems.slice(-5) }));
    }),
  );
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
/** A gigabyte takes a minute or two. */
const LONG_READ_MS = 5 * 60_000;
/** More of them than this are not worth their time. */
const LATE_SESSIONS = 50;

async function pass(work: Drain, options: DrainOptions): Promise<void> {
  checkStore(work, options.isEager === true);
  ensureInstance(work);
  applyCaptureSettings(work);
  clearOldDrift(work.db, work.version);
  const touched = await readInbox(work);
  const late = activeSessions(work.db, work.now() - LATE_FILES_MS, LATE_SESSIONS);
  const sessions = await read(
    work,
    new Set([
      ...touched,
      ...(options.sessions ?? []),
      ...unsettledSessions(work.db),
      ...unfinishedSessions(work.db),
      ...late,
    ]),
  );
  let awaiting = derive(work, sessions);
  const untilMs = work.now() + LATE_LINES_MS;
  // Counted as well: a clock that steps back must not hold a drain up
  for (let looks = 0; awaiting.size > 0 && looks < LATE_LINES_MS / LOOK_AGAIN_MS && work.now() < untilMs; looks++) {
    await work.sleep(LOOK_AGAIN_MS);
    const news = await readInbox(work);
    const again = await read(work, new Set([...awaiting, ...news]));
    awaiting = derive(work, again);
  }
  for (const session of awaiting) deriveSession(work, session, { patient: false });
  await endIdle(work, options);
  await (options.deliver ?? deliver)(work, { isEager: options.isEager === true });
  await readOn(work, options);
  removeRemnants(work);
  if (options.prune === undefined) await pruneDaily(work);
  else work.report.pruned ??= await prune(work, options.prune);
}

/** Large transcripts, slice by slice, when everything else is done and sent. What is left then is the next drain's. */
async function readOn(work: Drain, options: DrainOptions): Promise<void> {
  const startMs = performance.now();
  while (work.partlyReadUntilMs.size > 0 && performance.now() - startMs < LONG_READ_MS) {
    const begun = [...work.partlyReadUntilMs.keys()];
    const sessions = await read(work, new Set([...begun, ...(await readInbox(work))]));
    for (const session of derive(work, sessions)) deriveSession(work, session, { patient: false });
    await endIdle(work, options);
    await (options.deliver ?? deliver)(work, { isEager: options.isEager === true });
  }
}

/** @returns the sessions that what was read belongs to */
async function read(work: Drain, sessions: ReadonlySet<number>): Promise<ReadonlySet<number>> {
  const readers = new PQueue({ concurrency: READERS });
  return new Set(await readers.addAll([...sessions].map((session) => () => readTranscripts(work, session))));
}

/** @returns the sessions worth waiting for: lines come late by moments, what is older has been said or never will be */
function derive(work: Drain, sessions: ReadonlySet<number>): ReadonlySet<number> {
  const isFresh = (session: number): boolean =>
    Math.abs(work.now() - sessionById(work.db, session).lastMs) < LATE_LINES_MS;
  return new Set(
    [...sessions].filter(
      (session) => !derivePart(work, session) && deriveSession(work, session, { patient: isFresh(session) }),
    ),
  );
}

/** Of a session whose transcript is read in part, what is known for sure by then. @returns false where all of it is */
function derivePart(work: Drain, session: number): boolean {
  const untilMs = work.partlyReadUntilMs.get(session);
  if (untilMs === undefined) return false;
  deriveSession(work, session, { patient: false, untilMs: untilMs - LATE_LINES_MS });
  return true;
}

/** A session that went silent is ended by us; its transcript has the last word on whether it did. */
async function endIdle(work: Drain, options: DrainOptions): Promise<void> {
  const { idleTimeoutMs } = work.loaded.config.session;
  const sinceMs = options.endIdle === true ? Number.POSITIVE_INFINITY : work.now() - idleTimeoutMs;
  const idle = new Set(idleSessions(work.db, sinceMs));
  await read(work, idle);
  correctTimes(work.db, work.now());
  for (const session of idle) {
    if (work.partlyReadUntilMs.has(session) || sessionById(work.db, session).lastMs >= sinceMs) continue;
    const endIdle = options.endIdle === true ? ENDED_BY_USER : ENDED_IDLE;
    deriveSession(work, session, { patient: false, endIdle });
  }
}
