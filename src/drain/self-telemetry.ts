import { counts } from "../intake/inbox-dirs.ts";
import type { ExportOutcome } from "../model/settings.ts";
import type { Attributes, Increment, MetricPoint, MetricShape } from "../model/telemetry.ts";
import type { OnAnswer } from "../otlp/send.ts";
import { overflowState } from "../store/cardinality.ts";
import { addSteps } from "../store/counters.ts";
import { labelsOf } from "../store/labels.ts";
import { readMeta, writeMeta } from "../store/meta.ts";
import { CLOCK_SKEW, TOOK } from "../store/meta-keys.ts";
import { outboxState } from "../store/outbox.ts";
import { AHEAD_MS, hasChangedStreams, type PendingStream } from "../store/pending-streams.ts";
import { sessionCounts } from "../store/queries.ts";
import { addDrift, type LostEvents, lastVersionOf, lostEvents, raiseCounters, readDrift } from "../store/self.ts";
import { storeBytes } from "../store/size.ts";
import { QUIET_METRICS, quarantineFamily, SELF, SELF_PREFIX, SELF_RESOURCE, selfStep } from "../telemetry/self.ts";
import * as semconv from "../telemetry/semconv.ts";
import { METRIC_SHAPES } from "../telemetry/shapes.ts";
import type { Drain } from "./context.ts";
import type { UnknownNames } from "./drift.ts";

/** What the drain tells of itself: counters as it goes, gauges with each delivery. */

/** One payload that was taken. @param source of the card that took it, else the one that the command line named */
export const payloadIncrement = (
  drain: Pick<Drain, "agents">,
  outcome: "converted" | "ignored" | "quarantined",
  source: string | undefined,
  reason?: string,
): Increment =>
  selfStep(SELF.payloads, 1, {
    [semconv.OPENHOOK_SOURCE]: drain.agents.some((agent) => agent.source === source) ? source : "unknown",
    [semconv.OPENHOOK_OUTCOME]: outcome,
    [semconv.OPENHOOK_REASON]: reason === undefined ? undefined : quarantineFamily(reason),
  });

/** New events. Their source can be anybody's word, so it is that of the card that read them. */
export const eventIncrement = (source: string, events: number): Increment =>
  selfStep(SELF.events, events, { [semconv.OPENHOOK_SOURCE]: source });

/** Adds the program's own figures. Part of the commit of what they count. */
export const recordSelf = (drain: Drain, steps: readonly Increment[]): void =>
  addSteps(
    drain.db,
    steps.filter(({ amount }) => amount > 0),
    METRIC_SHAPES,
    drain.now(),
  );

/** Names that nobody knew, under the version that their agent last told. Part of the commit of what they were in. */
export function recordUnknownNames(drain: Drain, source: string, unknown: UnknownNames, version?: string): void {
  if (unknown.size === 0) return;
  addDrift(drain.db, source, version ?? lastVersionOf(drain.db, source), unknown, drain.now());
  const byKind = new Map<string, number>();
  for (const { kind, count } of unknown.values()) byKind.set(kind, (byKind.get(kind) ?? 0) + count);
  recordSelf(
    drain,
    [...byKind].map(([kind, count]) =>
      selfStep(SELF.drift, count, { [semconv.OPENHOOK_SOURCE]: source, [semconv.OPENHOOK_DRIFT_KIND]: kind }),
    ),
  );
}

/** Lines of one transcript. */
export const lineIncrements = (source: string, read: number, unreadable: number): readonly Increment[] =>
  (
    [
      ["understood", read],
      ["unreadable", unreadable],
    ] as const
  ).map(([outcome, lines]) =>
    selfStep(SELF.lines, lines, { [semconv.OPENHOOK_SOURCE]: source, [semconv.OPENHOOK_OUTCOME]: outcome }),
  );

/**
 * Counts how a drain ends, and how long it took; the figures go with the next delivery. One that never comes to its end is
 * counted as killed by the next.
 *
 * @throws what the work throws
 */
export async function measureDrain(drain: Drain, work: () => Promise<void>): Promise<void> {
  const { db, now } = drain;
  const beganMs = performance.now();
  db.transaction(() => {
    if (readMeta(db, BEGAN) !== undefined) addSteps(db, [drainStep("killed")], METRIC_SHAPES, now());
    writeMeta(db, BEGAN, String(now()));
  });
  const end = (outcome: "ok" | "failed"): void =>
    db.transaction(() => {
      const tookMs = Math.round(performance.now() - beganMs);
      db.prepare("DELETE FROM meta WHERE key = ?").run(BEGAN);
      addSteps(db, [drainStep(outcome), selfStep(SELF.drainDuration, tookMs / 1000)], METRIC_SHAPES, now());
      writeMeta(db, TOOK, String(tookMs));
    });
  try {
    await work();
  } catch (error) {
    try {
      end("failed");
    } catch {
      // The store is what failed: the next drain finds this one begun and not ended
    }
    throw error;
  }
  end("ok");
}

/** Collects what became of requests, and what the backend's clock said. */
export class BackendResponses {
  readonly #steps: Increment[] = [];
  readonly #now: () => number;
  #skewMs: number | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  readonly add: OnAnswer = ({ signal, outcome, dateMs }) => {
    this.#steps.push(
      selfStep(SELF.requests, 1, {
        [semconv.OPENHOOK_SIGNAL]: signal,
        [semconv.OPENHOOK_OUTCOME]: resultOf(outcome),
      }),
    );
    this.date(dateMs);
  };

  /** What the backend's clock said. */
  date(dateMs: number | undefined): void {
    if (dateMs === undefined) return;
    // A date has whole seconds: half of one on average is cut off
    this.#skewMs = this.#now() - dateMs - 500;
    this.hasTold = true;
  }

  /** Whether the backend's clock was heard of in this drain. */
  hasTold = false;

  /** Writes them down and begins anew. */
  keep(drain: Drain): void {
    recordSelf(drain, this.#steps.splice(0));
    if (this.#skewMs === undefined) return;
    const known = Number(readMeta(drain.db, CLOCK_SKEW) ?? "0");
    // The network's own delay comes and goes
    if (Math.abs(known - this.#skewMs) >= SKEW_STEP_MS) writeMeta(drain.db, CLOCK_SKEW, String(this.#skewMs));
    this.#skewMs = undefined;
  }
}

/**
 * Whether metrics are worth a request: something was counted, or the last one was so long ago that a backend would take
 * this machine's series for ended.
 */
export function areMetricsDue({ db, now }: Drain): boolean {
  if (hasChangedStreams(db, QUIET_METRICS)) return true;
  return Math.abs(now() - Number(readMeta(db, "metrics.last_ok_ms") ?? "0")) >= KEEP_ALIVE_MS;
}

/** Whether this machine's clock was so far off when the backend's was last heard of that points of it would be refused. */
export const isClockOff = ({ db }: Drain): boolean => Math.abs(skewOf(db)) > AHEAD_MS;

/**
 * Now, by the backend's clock where this machine's is so far off that points of it are refused, with all that a Collector
 * has put into the same request.
 */
export const backendNowMs = (drain: Drain): number => drain.now() - (isClockOff(drain) ? skewOf(drain.db) : 0);

/** Whether a stream is one of the program's own. */
export const isSelfStream = ({ points }: PendingStream): boolean =>
  points[0]?.shape.name.startsWith(SELF_PREFIX) === true;

/**
 * The gauges of this moment; counters that others keep are brought up to date first. Nothing where the user does not want
 * the program to tell of itself.
 *
 * @param hasBackend whether anybody is to get spans: without, none waits for him
 * @param toldMs now, as the backend has it
 */
export async function selfGauges(drain: Drain, hasBackend: boolean, toldMs: number): Promise<readonly MetricPoint[]> {
  if (!drain.loaded.config.selfTelemetry) return [];
  const { db, places } = drain;
  const nowMs = drain.now();
  const outbox = outboxState(db);
  raiseCounters(db, droppedTotals(outbox, lostEvents(db)), METRIC_SHAPES, nowMs);
  const inbox = await counts(places);
  const labels = labelsOf(db);
  const { spans, bytes, oldestMs } = hasBackend ? outbox : { spans: 0, bytes: 0, oldestMs: undefined };
  const point = (shape: MetricShape, value: number, attributes: Attributes = {}): MetricPoint => ({
    shape,
    attributes: { ...attributes, ...labels },
    resource: SELF_RESOURCE,
    startMs: toldMs,
    timeMs: toldMs,
    data: { kind: "gauge", value },
  });
  const age = (sinceMs: number | undefined): number =>
    sinceMs === undefined ? 0 : Math.max(0, nowMs - sinceMs) / 1000;
  return [
    // Scraped series keep their last value: without a time of its own nobody could tell a machine that went silent
    point(SELF.reportTime, toldMs / 1000),
    point(SELF.inboxFiles, inbox.inbox),
    point(SELF.claimedFiles, inbox.claimed),
    point(SELF.inboxAge, age(inbox.oldestMs)),
    point(SELF.quarantineFiles, inbox.quarantined),
    point(SELF.outboxSpans, spans),
    point(SELF.outboxBytes, bytes),
    point(SELF.outboxAge, age(oldestMs)),
    point(SELF.storeBytes, storeBytes(places.storePath)),
    point(SELF.storeSessions, sessionCounts(db).sessions),
    ...(["traces", "metrics"] as const).flatMap((signal) => {
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

// --- internal ---

const skewOf = (db: Drain["db"]): number => Number(readMeta(db, CLOCK_SKEW) ?? "0");

const BEGAN = "drain.began_ms";
const SKEW_STEP_MS = 2_000;
/** Prometheus takes a series for ended after five minutes without a point. */
const KEEP_ALIVE_MS = 4 * 60_000;

const drainStep = (outcome: "ok" | "failed" | "killed"): Increment =>
  selfStep(SELF.drains, 1, { [semconv.OPENHOOK_OUTCOME]: outcome });

const RESULTS = { retry: "retry", refused: "refused", "too-large": "too_large" } as const;

const resultOf = (outcome: ExportOutcome): string =>
  outcome.status === "ok" ? (outcome.rejected > 0 ? "partial" : "ok") : RESULTS[outcome.status];

/** Counted where they happen. `unclaimed` is none of them: no backend was set, and nobody was to get it. */
const droppedTotals = (outbox: ReturnType<typeof outboxState>, lost: LostEvents) =>
  (
    [
      ["retention", outbox.droppedTotal],
      ["rejected", outbox.rejectedTotal],
      ["no_room", lost.total],
    ] as const
  ).map(([reason, total]) => ({ step: selfStep(SELF.dropped, 0, { [semconv.OPENHOOK_REASON]: reason }), total }));

/** Different names by source, version and kind. */
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
