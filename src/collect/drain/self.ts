import { statSync } from "node:fs";
import { OTLP_SIGNALS } from "#core/model/settings.ts";
import type { Attributes, Increment, MetricPoint, MetricShape } from "#core/model/telemetry.ts";
import {
  COVERAGES,
  type Coverage,
  QUIET_METRICS,
  quarantineCategory,
  SELF,
  SELF_PREFIX,
  SELF_RESOURCE,
  selfIncrement,
} from "#core/telemetry/self.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { messageOf } from "#kit/errors.ts";
import { reportProblemOnce } from "#store/capture/context.ts";
import { overflowState } from "#store/cardinality.ts";
import { addSteps } from "#store/counters.ts";
import { sessionFailures } from "#store/failures.ts";
import { labelsOf } from "#store/labels.ts";
import type { LockStep } from "#store/lock-holder.ts";
import { CLOCK_SKEW, COVERAGE, LAST_DRAIN, LAST_DRAIN_MS, readMeta, removeMeta, writeMeta } from "#store/meta.ts";
import { outboxState } from "#store/outbox.ts";
import { hasChangedStreams, type PendingStream } from "#store/pending-streams.ts";
import { sessionCounts } from "#store/queries.ts";
import { type RejectedPoints, rejectedPoints } from "#store/rejected-points.ts";
import {
  addDrift,
  type LostEvents,
  lastVersionOf,
  lastVersions,
  lostEvents,
  raiseCounters,
  readDrift,
} from "#store/self.ts";
import { repairedSpans } from "#store/spans.ts";
import { storeBytes } from "#store/vacuum.ts";
import { counts } from "../intake/inbox-dirs.ts";
import type { UnknownNames } from "../payload/drift.ts";
import type { Drain } from "./context.ts";

// The program's own counters: payloads, events, transcript lines, unknown names, drains

/**
 * Counts one payload.
 *
 * @param source of the card that recognised it, otherwise from the command line; counted as `unknown` if there is no such agent
 * @param reason why it was quarantined, or the event that is not needed
 */
export const payloadIncrement = (
  drain: Pick<Drain, "agents">,
  outcome: "converted" | "ignored" | "quarantined",
  source: string | undefined,
  reason?: string,
): Increment =>
  selfIncrement(SELF.payloads, 1, {
    [semconv.OPENHOOK_SOURCE]: drain.agents.some((agent) => agent.source === source) ? source : "unknown",
    [semconv.OPENHOOK_OUTCOME]: outcome,
    [semconv.OPENHOOK_REASON]: outcome === "quarantined" ? quarantineCategory(reason ?? "") : reason,
  });

/** Counts new events. @param source of the card that read them: an event itself can name any source */
export const eventIncrement = (source: string, events: number): Increment =>
  selfIncrement(SELF.events, events, { [semconv.OPENHOOK_SOURCE]: source });

/** Adds to the program's own counters, in the commit of the facts they count. Increments of zero are left out. */
export const recordSelf = (drain: Drain, steps: readonly Increment[]): void =>
  addSteps(
    drain.db,
    steps.filter(({ amount }) => amount > 0),
    METRIC_SHAPES,
    drain.now(),
  );

/**
 * Stores and counts unknown names, in the commit of the payload they were in.
 *
 * @param version of the agent. @default its last known version
 */
export function recordUnknownNames(drain: Drain, source: string, unknown: UnknownNames, version?: string): void {
  if (unknown.size === 0) return;
  addDrift(drain.db, source, version ?? lastVersionOf(drain.db, source), unknown, drain.now());
  const byKind = new Map<string, number>();
  for (const { kind, count } of unknown.values()) byKind.set(kind, (byKind.get(kind) ?? 0) + count);
  recordSelf(
    drain,
    [...byKind].map(([kind, count]) =>
      selfIncrement(SELF.drift, count, { [semconv.OPENHOOK_SOURCE]: source, [semconv.OPENHOOK_DRIFT_KIND]: kind }),
    ),
  );
}

/** Counts the lines of one transcript. */
export const lineIncrements = (source: string, read: number, unreadable: number): readonly Increment[] =>
  (
    [
      ["understood", read],
      ["unreadable", unreadable],
    ] as const
  ).map(([outcome, lines]) =>
    selfIncrement(SELF.lines, lines, { [semconv.OPENHOOK_SOURCE]: source, [semconv.OPENHOOK_OUTCOME]: outcome }),
  );

/**
 * Counts how a drain ends and how long it took; the next delivery sends these figures. If a drain is killed, the next one counts
 * it.
 *
 * @throws what the work throws
 */
export async function measureDrain(drain: Drain, work: () => Promise<void>): Promise<void> {
  const { db, now } = drain;
  const startMs = performance.now();
  db.transaction(() => {
    if (readMeta(db, DRAIN_START) !== undefined)
      addSteps(db, [drainIncrement("killed", drain.diedAt)], METRIC_SHAPES, now());
    writeMeta(db, DRAIN_START, String(now()));
  });
  const end = (outcome: "ok" | "failed"): void =>
    db.transaction(() => {
      const durationMs = Math.round(performance.now() - startMs);
      removeMeta(db, DRAIN_START);
      addSteps(
        db,
        [drainIncrement(outcome), selfIncrement(SELF.drainDuration, durationMs / 1000)],
        METRIC_SHAPES,
        now(),
      );
      writeMeta(db, LAST_DRAIN_MS, String(durationMs));
    });
  try {
    await work();
  } catch (error) {
    try {
      end("failed");
    } catch {
      // The store itself failed: the next drain counts this one as killed
    }
    throw error;
  }
  end("ok");
}

/**
 * The program's own gauges, now. Counters whose totals are kept elsewhere are updated first. Empty if self telemetry is off.
 *
 * @param hasBackend whether spans are sent anywhere; otherwise the outbox is reported as empty
 * @param pointMs now, by the backend's clock, in milliseconds since the epoch
 */
export async function selfGauges(drain: Drain, hasBackend: boolean, pointMs: number): Promise<readonly MetricPoint[]> {
  if (!drain.loaded.config.selfTelemetry) return [];
  const { db, places } = drain;
  const nowMs = drain.now();
  const outbox = outboxState(db);
  const repaired = { step: selfIncrement(SELF.repaired, 0), total: repairedSpans(db) };
  const dropped = droppedTotals([outbox, outboxState(db, "logs")], lostEvents(db), rejectedPoints(db));
  raiseCounters(db, [...dropped, repaired], METRIC_SHAPES, nowMs);
  const inbox = await counts(places);
  const labels = labelsOf(db);
  const { records, bytes, oldestMs } = hasBackend ? outbox : { records: 0, bytes: 0, oldestMs: undefined };
  const point = (shape: MetricShape, value: number, attributes: Attributes = {}): MetricPoint => ({
    shape,
    attributes: { ...attributes, ...labels },
    resource: SELF_RESOURCE,
    startMs: pointMs,
    timeMs: pointMs,
    data: { kind: "gauge", value },
  });
  const age = (sinceMs: number | undefined): number =>
    sinceMs === undefined ? 0 : Math.max(0, nowMs - sinceMs) / 1000;
  return [
    // Scraped series keep their last value: only a time as value shows that a machine stopped reporting
    point(SELF.reportTime, pointMs / 1000, { [semconv.OPENHOOK_COLLECTOR_VERSION]: drain.version }),
    ...[readMeta(db, LAST_DRAIN)].flatMap((last) =>
      last === undefined ? [] : [point(SELF.drainTime, (endMsOf(last) + pointMs - nowMs) / 1000)],
    ),
    ...lastVersions(db).map(({ source, version, lastMs }) =>
      point(SELF.agentTime, (lastMs + pointMs - nowMs) / 1000, {
        [semconv.OPENHOOK_SOURCE]: source,
        [semconv.OPENHOOK_SOURCE_VERSION]: version,
      }),
    ),
    ...(await coverageCounts(drain)).map(([attributes, agents]) => point(SELF.agents, agents, attributes)),
    point(SELF.inboxFiles, inbox.inbox),
    point(SELF.claimedFiles, inbox.claimed),
    point(SELF.inboxAge, age(inbox.oldestMs)),
    point(SELF.quarantineFiles, inbox.quarantined),
    point(SELF.outboxSpans, records),
    point(SELF.outboxBytes, bytes),
    point(SELF.outboxAge, age(oldestMs)),
    point(SELF.storeBytes, storeBytes(places.storePath)),
    point(SELF.storeSessions, sessionCounts(db).sessions),
    point(
      SELF.failedSessions,
      new Set(
        sessionFailures(db)
          .filter(({ step }) => step !== "price")
          .map(({ source, sessionId }) => `${source} ${sessionId}`),
      ).size,
    ),
    ...OTLP_SIGNALS.flatMap((signal) => {
      const okMs = readMeta(db, `${signal}.last_ok_ms`);
      if (okMs === undefined) return [];
      return [point(SELF.successAge, age(Number(okMs)), { [semconv.OPENHOOK_SIGNAL]: signal })];
    }),
    ...[readMeta(db, CLOCK_SKEW)].flatMap((skew) =>
      skew === undefined ? [] : [point(SELF.clockSkew, Number(skew) / 1000)],
    ),
    point(SELF.overflow, overflowState(db).length),
    ...driftCounts(drain).map(([attributes, names]) => point(SELF.driftNames, names, attributes)),
  ];
}

/**
 * Whether metrics have to be sent: something was counted, or the last request was so long ago that a backend would treat this
 * machine's series as ended.
 */
export function areMetricsDue({ db, now }: Drain): boolean {
  if (hasChangedStreams(db, QUIET_METRICS)) return true;
  return Math.abs(now() - Number(readMeta(db, "metrics.last_ok_ms") ?? "0")) >= KEEP_ALIVE_MS;
}

/** Whether a stream is one of the program's own metrics. */
export const isSelfStream = ({ points }: PendingStream): boolean =>
  points[0]?.shape.name.startsWith(SELF_PREFIX) === true;

// --- internal ---

const DRAIN_START = "drain.began_ms";

/** @param diedAt the step at which a drain was killed */
const drainIncrement = (outcome: "ok" | "failed" | "killed", diedAt?: LockStep): Increment =>
  selfIncrement(SELF.drains, 1, { [semconv.OPENHOOK_OUTCOME]: outcome, [semconv.OPENHOOK_REASON]: diedAt });

/**
 * For each agent that is used on this machine, 1 for the coverage that it has and 0 for the others. An agent that was used once and is
 * not any more has 0 for all, because backends keep a series' last value.
 *
 * Looking at all agents' settings and transcripts takes longer than a drain, so the result is kept for an hour, or until `enable` or
 * `disable` changes a registration.
 */
async function coverageCounts(drain: Drain): Promise<readonly (readonly [Attributes, number])[]> {
  const known = JSON.parse(readMeta(drain.db, COVERAGE) ?? "null") as Kept | null;
  const changedMs = registrationsChangedMs(drain);
  const isCurrent = known !== null && known.changedMs === changedMs && Math.abs(drain.now() - known.atMs) < KEPT_MS;
  const states = isCurrent ? known.states : await determined(drain, known?.states ?? {});
  if (!isCurrent) writeMeta(drain.db, COVERAGE, JSON.stringify({ atMs: drain.now(), changedMs, states }));
  return Object.entries(states).flatMap(([source, state]) =>
    COVERAGES.map(
      (one) =>
        [{ [semconv.OPENHOOK_SOURCE]: source, [semconv.OPENHOOK_COVERAGE]: one }, one === state ? 1 : 0] as const,
    ),
  );
}

/** When a drain ended, by this machine's clock. @param report as the drain stored it */
const endMsOf = (report: string): number => (JSON.parse(report) as { readonly atMs: number }).atMs;

/** Prometheus treats a series as ended after five minutes without a point. */
const KEEP_ALIVE_MS = 4 * 60_000;

/** Totals of lost records, events and points. Does not include `unclaimedTotal`: those records were never meant for a backend. */
const droppedTotals = (queues: readonly ReturnType<typeof outboxState>[], lost: LostEvents, points: RejectedPoints) =>
  (
    [
      ["retention", queues.reduce((sum, { droppedTotal }) => sum + droppedTotal, 0)],
      ["rejected", queues.reduce((sum, { rejectedTotal }) => sum + rejectedTotal, 0)],
      ["no_room", lost.total],
      ["rejected_points", points.total],
    ] as const
  ).map(([reason, total]) => ({ step: selfIncrement(SELF.dropped, 0, { [semconv.OPENHOOK_REASON]: reason }), total }));

/** Number of different unknown names by source, version and kind. */
function driftCounts({ db }: Drain): readonly (readonly [Attributes, number])[] {
  const counts = new Map<string, number>();
  for (const { source, version, kind } of readDrift(db)) {
    const key = JSON.stringify([source, version, kind]);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([key, names]) => {
    const [source = "", version = "", kind = ""] = JSON.parse(key) as string[];
    return [
      {
        [semconv.OPENHOOK_SOURCE]: source,
        [semconv.OPENHOOK_SOURCE_VERSION]: version,
        [semconv.OPENHOOK_DRIFT_KIND]: kind,
      },
      names,
    ] as const;
  });
}

const KEPT_MS = 3_600_000;

interface Kept {
  readonly atMs: number;
  readonly changedMs: number;
  readonly states: States;
}
/** By source; `null`: not used, or unknown. */
type States = Readonly<Record<string, Coverage | null>>;

/** `enable` and `disable` write a record of each registration. */
const registrationsChangedMs = ({ places }: Drain): number =>
  statSync(places.backupDir, { throwIfNoEntry: false })?.mtimeMs ?? 0;

async function determined(drain: Drain, before: States): Promise<States> {
  const forgotten = Object.fromEntries(Object.keys(before).map((source) => [source, null]));
  try {
    // Not the folder of the session that started this drain: which project it is must not matter
    const observed = { ...drain, cwd: drain.places.home, env: drain.env ?? {} };
    return { ...forgotten, ...Object.fromEntries((await drain.coverageOf?.(observed)) ?? []) };
  } catch (error) {
    reportProblemOnce(drain, `coverage: which agents are collected is unknown: ${messageOf(error)}`);
    return forgotten;
  }
}
