import { ENDED_IDLE } from "#core/model/session.ts";
import { protectionOf } from "#core/privacy/protection.ts";
import { keepsContent } from "#core/rules/capture.ts";
import { levelOf } from "#store/capture/level.ts";
import type { Database } from "#store/database.ts";
import { unpack } from "#store/facts.ts";
import { withDrainLock } from "#store/lock.ts";
import { lockOf } from "#store/lock-holder.ts";
import { queuedCount } from "#store/outbox.ts";
import { removePositions } from "#store/positions.ts";
import { numbers } from "#store/rows.ts";
import { sessionById } from "#store/sessions.ts";
import { NO_BRIDGE } from "../bridge/bridge.ts";
import { type Drain, type DrainDeps, emptyReport } from "../drain/context.ts";
import { deliver } from "../drain/deliver.ts";
import { deriveSession } from "../drain/derive.ts";
import { withStore } from "../drain/open.ts";
import { readTranscripts } from "../drain/read-transcripts.ts";

export interface ExportOptions {
  readonly agents: readonly string[];
  readonly sinceMs: number | undefined;
  readonly signal: AbortSignal;
  /** Deliver whenever this many spans are queued. @default 5,000 */
  readonly spansPerDelivery?: number;
  readonly onProgress: (done: number, of: number, spans: number) => void;
}

export interface Exported {
  readonly sessions: number;
  readonly spans: number;
  /** Sessions older than the retention time: as rows they are pruned by the next drains. */
  readonly beyondRetention: number;
  readonly sent: number;
  /** Still queued; the next drains send them. */
  readonly queued: number;
  readonly problems: readonly string[];
}

/**
 * Exports imported sessions. Each is unpacked into rows; its spans and counts are queued and sent at the configured rate. If
 * the export is stopped, the remaining sessions stay packed and the next drain sends what is queued.
 *
 * @returns `undefined` while another drain holds the lock
 */
export async function exportPacked(deps: DrainDeps, options: ExportOptions): Promise<Exported | undefined> {
  const protection = await protectionOf(deps.loaded.config.redaction, deps.places.home);
  const safe = { ...protection, ...deps };
  const report = emptyReport();
  const perDelivery = options.spansPerDelivery ?? SPANS_PER_DELIVERY;
  let [sessions, beyondRetention] = [0, 0];
  let queued = 0;
  let isDone = false;
  const hadLock = await withDrainLock(lockOf(deps.places.stateDir), (_, progress) =>
    withStore({ ...safe, report }, async (db) => {
      if (isDone) return;
      const drain: Drain = {
        ...safe,
        db,
        report,
        partlyReadUntilMs: new Map(),
        startedSessions: new Set(),
        exporting: new Set(),
        unreadSessions: new Set(),
        bridge: NO_BRIDGE,
        progress,
      };
      progress.note("export");
      const numbers = sessionsToExport(db, options);
      for (const [i, number] of numbers.entries()) {
        if (options.signal.aborted) break;
        await unpackAndDerive(drain, number);
        sessions++;
        if (isPast(drain, number)) beyondRetention++;
        options.onProgress(i + 1, numbers.length, report.spans);
        if (queuedCount(db) < perDelivery) continue;
        await deliver(drain, { isEager: true });
        // The backend is unreachable: leave the rest packed instead of failing for each session
        if (queuedCount(db) >= perDelivery) break;
      }
      await deliver(drain, { isEager: true });
      queued = queuedCount(db);
      isDone = true;
    }),
  );
  if (!hadLock) return undefined;
  const problems = report.problems.map(protection.redactSecrets);
  return { sessions, beyondRetention, spans: report.spans, sent: report.sent, queued, problems };
}

// --- internal ---

const SPANS_PER_DELIVERY = 5_000;
const DAY_MS = 86_400_000;

const sessionsToExport = (db: Database, { agents, sinceMs }: ExportOptions): readonly number[] =>
  numbers(
    db,
    `SELECT s.id FROM sessions s JOIN packed p ON p.session = s.id
       WHERE s.last_ms >= ? AND s.source IN (SELECT value FROM json_each(?)) ORDER BY s.first_ms, s.id`,
    sinceMs ?? Number.MIN_SAFE_INTEGER,
    JSON.stringify(agents),
  );

const isPast = ({ db, loaded, now }: Drain, number: number): boolean =>
  sessionById(db, number).lastMs < now() - loaded.config.store.retentionDays * DAY_MS;

async function unpackAndDerive(drain: Drain, number: number): Promise<void> {
  const { db } = drain;
  const session = sessionById(db, number);
  // A packed session has no content. If content is kept, read its files again
  const isReadAgain = keepsContent(levelOf(drain, session));
  db.transaction(() => {
    unpack(db, session);
    if (isReadAgain) removePositions(db, number);
  }, "commit.transcript");
  if (isReadAgain) {
    do await readTranscripts(drain, number);
    while (drain.partlyReadUntilMs.has(number));
  }
  deriveSession(drain, number, { patient: false, endIdle: ENDED_IDLE });
}
