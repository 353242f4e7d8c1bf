import { existsSync } from "node:fs";
import PQueue from "p-queue";
import { NO_BRIDGE } from "#collect/bridge/bridge.ts";
import { openBridge } from "#collect/bridge/open.ts";
import { hasNewEvents, mayExitSoon, sessionsWithoutProcess } from "#collect/drain/agent-processes.ts";
import { contained } from "#collect/drain/contain.ts";
import { type Drain, type DrainDeps, type DrainReport, emptyReport } from "#collect/drain/context.ts";
import { checkStoreDaily, startOutcomesDaily } from "#collect/drain/daily.ts";
import { deliver } from "#collect/drain/deliver.ts";
import { type DeriveOptions, deriveSession } from "#collect/drain/derive.ts";
import { ensureInstance } from "#collect/drain/instance.ts";
import { ensurePrivateState, withStore } from "#collect/drain/open.ts";
import { type PruneRequest, prune, pruneDaily } from "#collect/drain/prune.ts";
import { databaseWatch, noteAllowedFolders, sessionsToReadAgain } from "#collect/drain/read-again.ts";
import { readHeads } from "#collect/drain/read-heads.ts";
import { readInbox } from "#collect/drain/read-inbox.ts";
import { readTranscripts } from "#collect/drain/read-transcripts.ts";
import { retryQuarantined } from "#collect/drain/retry-quarantined.ts";
import { measureDrain } from "#collect/drain/self.ts";
import { announceDrain, serveBridge, serveBridgeDuring } from "#collect/drain/serve-bridge.ts";
import { forgetDeath, isCautious, noteBuild, noteDeath } from "#collect/drain/set-aside.ts";
import { writeStatusLine } from "#collect/drain/statusline.ts";
import type { Outcomes } from "#collect/drain/store-outcomes.ts";
import { fillPrices } from "#collect/import/fill-prices.ts";
import { LOST_COUNT } from "#collect/intake/inbox-file.ts";
import { exportingAgents, forwardDir, nativeDir } from "#collect/native/receiver-file.ts";
import { ENDED_BY_USER, ENDED_IDLE, ENDED_WITH_PROCESS } from "#core/model/session.ts";
import { protectionOf } from "#core/privacy/protection.ts";
import { watchingDatabases } from "#kit/foreign-databases.ts";
import { applyCaptureSettings, withLastKnownLevel } from "#store/capture/apply-settings.ts";
import type { CaptureContext } from "#store/capture/context.ts";
import { applyProjectSettingsBeforeSending } from "#store/capture/project.ts";
import { forgetStoredNames, removeRemnants } from "#store/capture/remnants.ts";
import { hasUncounted } from "#store/changes.ts";
import { type DrainScope, withDrainLock } from "#store/lock.ts";
import { lockOf, type Progress } from "#store/lock-holder.ts";
import { LAST_DRAIN, writeMeta } from "#store/meta.ts";
import { unfinishedSessions } from "#store/positions.ts";
import { clearOldDrift } from "#store/self.ts";
import { activeSessions, correctTimes, idleSessions, sessionById, unsettledSessions } from "#store/sessions.ts";
import { makeSpareFiles } from "#store/spare-files.ts";

/** What a drain does besides its usual work. */
export interface DrainOptions {
  /** End every open session now, even a recent one. */
  readonly endIdle?: boolean;
  /** The user started the drain: a backend that failed recently is tried immediately. */
  readonly isEager?: boolean;
  /** Only what the bridge needs, unless another drain asks for more: read new events and run commands. Nothing is built or sent. */
  readonly onlyEvents?: boolean;
  /** A hook started the drain: if the bridge is used, new events are read until none has arrived for three seconds. */
  readonly lingers?: boolean;
  /** Replaces sending: for a preview of what would be sent. */
  readonly deliver?: typeof deliver;
  /** Numbers of sessions whose transcripts contain something new, even without an event in the inbox. */
  readonly sessions?: readonly number[];
  /** Remove old sessions from the store, after everything else. */
  readonly prune?: PruneRequest;
  /** Git's answers about commits, to be stored. */
  readonly outcomes?: Outcomes;
  /** Called once a day, if there are commits: starts a process that finds out what became of them. */
  readonly startOutcomes?: () => void;
}

/**
 * One drain: inbox → store → session → spans and counters → backend. One at a time per state directory: if another drain is
 * running, that one repeats its pass, and this one returns.
 *
 * @returns what was done; `undefined` if another drain does the work
 * @throws StoreError if the store cannot be used, RuleError if a redaction rule cannot, StateError if the state directory belongs
 *         to another user; inbox and queue stay as they are
 */
export async function drain(deps: DrainDeps, options: DrainOptions = {}): Promise<DrainReport | undefined> {
  const report = emptyReport();
  const protection = await protectionOf(deps.loaded.config.redaction, deps.places.home);
  const safe = { ...protection, ...deps, log: (line: string) => deps.log(protection.redactSecrets(line)) };
  await ensurePrivateState(safe);
  let isFirst = true;
  const lock = lockOf(deps.places.stateDir);
  const onePass = (scope: DrainScope, progress: Progress): Promise<void> =>
    withStore({ ...safe, report }, async (db) => {
      const loaded = withLastKnownLevel(db, deps.loaded);
      const audit = await openAudit({ ...safe, loaded, db, report });
      const bridge = await openBridge({ ...safe, loaded, db, env: deps.env ?? {}, isEager: options.isEager === true });
      const work: Drain = {
        ...safe,
        loaded,
        db,
        report,
        audit,
        // A preview runs no commands
        bridge: options.deliver === undefined ? bridge : { ...NO_BRIDGE, queue: (...one) => bridge.queue(...one) },
        partlyReadUntilMs: new Map(),
        startedSessions: new Set(),
        exporting: exportingAgents(deps.places.stateDir),
        unreadSessions: new Set(),
        progress,
        diedAt: progress.left?.step,
      };
      progress.restart = deps.restart;
      noteDeath(work);
      // After a pass that another drain asked for, that one may be waiting for the lock
      const lingers = options.lingers === true && (isFirst || scope === "events");
      isFirst = false;
      await withBridge(work, lock, lingers, async () => {
        if (scope === "events") return readEvents(work);
        await measureDrain(work, () => watchingDatabases(databaseWatch(work), () => pass(work, options)));
        report.problems = report.problems.map(protection.redactSecrets);
        const last = { atMs: deps.now(), ...report, problems: report.problems.slice(-5) };
        writeMeta(db, LAST_DRAIN, JSON.stringify(last));
      });
    });
  const worked = await withDrainLock(lock, onePass, options.onlyEvents === true ? "events" : "all");
  makeSpareFiles(deps.places.stateDir, LOST_COUNT);
  return worked ? report : undefined;
}

// --- internal ---

/** Sessions whose transcripts are read in parallel; reading waits mostly for the disk. */
const READERS = 4;
/** Agents write a turn's last line up to a second after its hook ran; measured, see the agents' READMEs. */
const LATE_LINES_MS = 2_000;
const RETRY_MS = 100;
/** Agents without an end event exit up to a second after their last hook when they were started for one prompt. */
const EXIT_MS = 2_000;
/** Some agents write the last lines after their last hook: drains read sessions again for this long. */
const LATE_FILES_MS = 3_600_000;
/** Limit for reading large transcripts; a gigabyte takes one or two minutes. */
const LONG_READ_MS = 5 * 60_000;
/** Limit for removing names after the level was lowered to none; a thousand sessions take about a second. */
const FORGET_NAMES_MS = 5_000;
/** At most this many sessions are read again. */
const LATE_SESSIONS = 50;

/** Limit for the commands of the bridge after a drain that a user started; the next drain continues. */
const BRIDGE_MS = 60_000;

/** Does the work of a pass while the bridge's commands run beside it, and then serves the bridge. */
async function withBridge(work: Drain, lock: string, lingers: boolean, doWork: () => Promise<void>): Promise<void> {
  const { bridge } = work;
  if (!bridge.isActive) return doWork();
  try {
    if (lingers) announceDrain(work);
    bridge.kick();
    await doWork();
    if (lingers) await serveBridge(work, lock);
    else await bridge.finish(BRIDGE_MS);
  } finally {
    // Before the store is closed
    await bridge.stop();
  }
}

/** Most machines keep no audit trail, and drains do not load the code for it. */
async function openAudit(drain: CaptureContext): Promise<Drain["audit"]> {
  if (!drain.loaded.config.audit.enabled) return undefined;
  return (await import("#collect/drain/open-audit.ts")).openAudit(drain);
}

/** New events → store → bridge. The next drain does the rest. */
async function readEvents(work: Drain): Promise<void> {
  ensureInstance(work);
  applyCaptureSettings(work);
  clearOldDrift(work.db, work.version);
  await readInbox(work);
}

async function storeOutcomes(work: Drain, outcomes: NonNullable<DrainOptions["outcomes"]>): Promise<void> {
  const { rebuildSums } = await import("#collect/import/rebuild-sums.ts");
  const { storeOutcomes: store } = await import("#collect/drain/store-outcomes.ts");
  await store(work, outcomes, (sessions) => rebuildSums(work, sessions, true));
}

async function pass(work: Drain, options: DrainOptions): Promise<void> {
  checkStoreDaily(work, options.isEager === true);
  ensureInstance(work);
  applyCaptureSettings(work);
  clearOldDrift(work.db, work.version);
  await fillPrices(work);
  if (options.outcomes !== undefined) await storeOutcomes(work, options.outcomes);
  await retryQuarantined(work);
  const touched = await readInbox(work);
  const late = activeSessions(work.db, work.now() - LATE_FILES_MS, LATE_SESSIONS);
  const sessions = await read(
    work,
    new Set([
      ...touched,
      ...(options.sessions ?? []),
      ...unsettledSessions(work.db),
      ...unfinishedSessions(work.db),
      ...sessionsToReadAgain(work),
      ...late,
      ...(await readNative(work)),
    ]),
  );
  noteAllowedFolders(work);
  await readHeads(work, touched);
  let incomplete = await derive(work, sessions);
  const untilMs = work.now() + LATE_LINES_MS;
  // The number of attempts is limited too: a clock that is set back must not delay the drain
  for (
    let attempts = 0;
    incomplete.size > 0 && attempts < LATE_LINES_MS / RETRY_MS && work.now() < untilMs;
    attempts++
  ) {
    await work.sleep(RETRY_MS);
    const added = [...(await readInbox(work)), ...(await readNative(work))];
    incomplete = await derive(work, await read(work, new Set([...incomplete, ...added])));
  }
  for (const session of incomplete) await build(work, session, { patient: false });
  await endWithProcess(work);
  await endIdle(work, options);
  forgetDeath(work);
  work.progress.note("count");
  await applyProjectSettingsBeforeSending(work);
  await countWhatSessionsLedTo(work, options);
  await writeStatusLine(work);
  await sendQueued(work, options);
  if (options.lingers === true && (await endsSoon(work))) await sendQueued(work, options);
  await readRest(work, options);
  work.progress.note("tidy");
  forgetStoredNames(work, options.isEager === true ? Number.POSITIVE_INFINITY : FORGET_NAMES_MS);
  removeRemnants(work);
  if (options.prune === undefined) await pruneDaily(work);
  else work.report.pruned ??= await prune(work, options.prune);
  if (options.startOutcomes !== undefined) startOutcomesDaily(work, options.startOutcomes);
}

/** Reads large transcripts slice by slice, after everything else is sent. The next drain reads what is left. */
async function readRest(work: Drain, options: DrainOptions): Promise<void> {
  const startMs = performance.now();
  while (work.partlyReadUntilMs.size > 0 && performance.now() - startMs < LONG_READ_MS) {
    const started = [...work.partlyReadUntilMs.keys()];
    const sessions = await read(work, new Set([...started, ...(await readInbox(work))]));
    for (const session of await derive(work, sessions)) await build(work, session, { patient: false });
    await endIdle(work, options);
    await sendQueued(work, options);
  }
}

/** Most drains have nothing to count, and do not load the code for it. */
async function countWhatSessionsLedTo(work: Drain, { outcomes }: DrainOptions): Promise<void> {
  if (outcomes === undefined && !hasUncounted(work.db)) return;
  const { countChanges, countOutcomes } = await import("#collect/drain/count-changes.ts");
  countChanges(work);
  if (outcomes !== undefined) countOutcomes(work);
}

/** What agents' own telemetry adds; on most machines there is none. @returns sessions that it was not added to yet */
async function readNative(work: Drain): Promise<readonly number[]> {
  if (!existsSync(nativeDir(work.places.stateDir))) return [];
  const { readNative: read } = await import("#collect/drain/read-native.ts");
  return read(work);
}

function sendQueued(work: Drain, options: DrainOptions): Promise<void> {
  work.progress.note("send");
  const isEager = options.isEager === true;
  return serveBridgeDuring(work, async () => {
    await (options.deliver ?? deliver)(work, { isEager });
    if (options.deliver === undefined && existsSync(forwardDir(work.places.stateDir))) {
      const { forwardNative } = await import("#collect/drain/forward-native.ts");
      await forwardNative(work, { isEager });
    }
  });
}

/** @returns the sessions that the read entries belong to */
async function read(work: Drain, sessions: ReadonlySet<number>): Promise<ReadonlySet<number>> {
  const readers = new PQueue({ concurrency: isCautious(work) ? 1 : READERS });
  const readOne = (session: number) => contained(work, session, "read", () => readTranscripts(work, session), session);
  const read = new Set(await readers.addAll([...sessions].map((session) => () => readOne(session))));
  work.progress.note("build");
  return read;
}

/** @returns the sessions that still expect transcript lines: those with recent activity, because lines are late by a few seconds at most */
async function derive(work: Drain, sessions: ReadonlySet<number>): Promise<ReadonlySet<number>> {
  const isFresh = (session: number): boolean =>
    Math.abs(work.now() - sessionById(work.db, session).lastMs) < LATE_LINES_MS;
  const incomplete = new Set<number>();
  for (const session of sessions) {
    const untilMs = work.partlyReadUntilMs.get(session);
    // If a transcript is only partly read, build only what is complete so far
    if (untilMs !== undefined) await build(work, session, { patient: false, untilMs: untilMs - LATE_LINES_MS });
    else if (await build(work, session, { patient: isFresh(session) })) incomplete.add(session);
  }
  return incomplete;
}

/** `deriveSession`; its errors affect this session only. @returns true if it expects more transcript lines */
async function build(work: Drain, session: number, options: DeriveOptions): Promise<boolean> {
  if (work.unreadSessions.has(session)) return false;
  const derive = () => {
    noteBuild(work, session);
    return deriveSession(work, session, options);
  };
  return contained(work, session, "build", derive, false);
}

/** Ends sessions whose agent's process is gone. @returns whether there were any */
async function endWithProcess(work: Drain): Promise<boolean> {
  const ended = sessionsWithoutProcess(work);
  if (ended.length === 0) return false;
  // The last hooks may have been written since the inbox was read
  const added = await readInbox(work);
  for (const session of await derive(work, await read(work, new Set([...ended, ...added]))))
    await build(work, session, { patient: false });
  if (await hasNewEvents(work)) return false;
  for (const session of sessionsWithoutProcess(work)) {
    if (work.partlyReadUntilMs.has(session)) continue;
    await build(work, session, { patient: false, endIdle: ENDED_WITH_PROCESS });
  }
  return true;
}

/** After a turn's end: waits up to two seconds for the agent to exit, because no other hook will start a drain. @returns whether one did */
async function endsSoon(work: Drain): Promise<boolean> {
  for (let waited = 0; waited < EXIT_MS && mayExitSoon(work); waited += RETRY_MS) {
    await work.sleep(RETRY_MS);
    if (await endWithProcess(work)) return true;
  }
  return false;
}

/** Ends idle sessions. Their transcripts are read first, because they may show later activity. */
async function endIdle(work: Drain, options: DrainOptions): Promise<void> {
  const { idleTimeoutMs } = work.loaded.config.session;
  const sinceMs = options.endIdle === true ? Number.POSITIVE_INFINITY : work.now() - idleTimeoutMs;
  const idle = new Set(idleSessions(work.db, sinceMs));
  await read(work, idle);
  correctTimes(work.db, work.now());
  for (const session of idle) {
    if (work.partlyReadUntilMs.has(session) || sessionById(work.db, session).lastMs >= sinceMs) continue;
    const endIdle = options.endIdle === true ? ENDED_BY_USER : ENDED_IDLE;
    await build(work, session, { patient: false, endIdle });
  }
}
