import { randomBytes } from "node:crypto";
import { otlpSettings } from "#config/otlp.ts";
import { currentUser } from "#config/repository/user-settings.ts";
import type { Destinations, ExportOutcome, OtlpSettings } from "#core/model/settings.ts";
import type { LogRecord, MetricPoint, SpanRecord } from "#core/model/telemetry.ts";
import { userAttributes } from "#core/privacy/identity.ts";
import { attributesAtLevel, recordAtLevel } from "#core/telemetry/level.ts";
import { logsOf } from "#core/telemetry/logs.lazy.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { messageOf } from "#kit/errors.ts";
import type { Sender } from "#send/otlp/send.lazy.ts";
import { reportProblemOnce } from "#store/capture/context.ts";
import { ownNamesOf } from "#store/capture/level.ts";
import { protectAttributes, protectPoint, protectResource, protectSpan } from "#store/capture/protect.ts";
import { instanceId } from "#store/instance.ts";
import { readMeta, writeMeta } from "#store/meta.ts";
import {
  OUTBOX_PARTS,
  type OutboxPart,
  type OutboxRow,
  type QueuedLog,
  type QueuedSignal,
  queuedLogs,
  queuedSpans,
} from "#store/outbox.ts";
import { pendingStreams } from "#store/pending-streams.ts";
import { backendNowMs } from "./clock.ts";
import { affectsAllSessions } from "./contain.ts";
import type { Drain } from "./context.ts";
import { rateLimitGauges } from "./rate-limits.ts";
import { isSelfStream, selfGauges } from "./self.ts";

/** Where the records of this drain are sent. A signal without an endpoint is absent. */
export function destinationsOf(drain: Drain): Destinations {
  const { resource: _, ...destinations } = unprotected(drain);
  return destinations;
}

/** The same with the resource of all records. Redacting it builds the rules, for which a drain that sends nothing has no other use. */
export async function deliverySettings(drain: Drain): Promise<OtlpSettings> {
  const settings = unprotected(drain);
  return { ...settings, resource: { ...protectResource(drain, settings.resource), ...(await identityOf(drain)) } };
}

/** What differs between the queues of two signals. */
export interface Queue<Queued extends { readonly seq: number }, Item> {
  readonly signal: QueuedSignal;
  /** The oldest records of a part after `afterSeq`. */
  readonly read: (db: Drain["db"], afterSeq: number, limit: number, part: OutboxPart) => readonly Queued[];
  /**
   * A record as the current capture level and redaction rules allow it, whatever they were when it was stored. `undefined` if this
   * version of the program makes no such record: it stays in the queue.
   */
  readonly atLevel: (drain: Drain, queued: Queued) => Item | undefined;
  readonly send: (sender: Sender, records: readonly Item[]) => Promise<ExportOutcome>;
}

export const SPANS: Queue<OutboxRow, SpanRecord> = {
  signal: "traces",
  read: queuedSpans,
  atLevel: (drain, { record }) => spanAtLevel(drain, record),
  send: (sender, records) => sender.sendSpans(records),
};

export const LOGS: Queue<QueuedLog, LogRecord> = {
  signal: "logs",
  read: queuedLogs,
  atLevel(drain, queued) {
    const { config } = drain.loaded;
    if ("span" in queued)
      return logsOf(spanAtLevel(drain, queued.span), config).find(({ part }) => part === queued.part);
    const { record } = queued;
    const attributes = attributesAtLevel(record.attributes, record.resource, config.capture, ownNamesOf(drain));
    return { ...record, attributes: protectAttributes(drain, attributes) };
  },
  send: (sender, records) => sender.sendLogs(records),
};

/** All queued records of a signal as they are sent, in the order of sending. */
export function* allRows<Queued extends { readonly seq: number }, Item>(
  drain: Drain,
  queue: Queue<Queued, Item>,
): Generator<{ readonly seq: number; readonly record: Item }> {
  for (const part of OUTBOX_PARTS) {
    for (const queued of rowsOf(drain, queue, part)) {
      const record = queue.atLevel(drain, queued);
      if (record !== undefined) yield { seq: queued.seq, record };
    }
  }
}

/** How log records are made of the spans that are settled; `undefined` if the user wants none. */
export const logsWanted = ({
  loaded: { config },
}: Pick<Drain, "loaded">): ((record: SpanRecord) => readonly LogRecord[]) | undefined =>
  config.logs === "off" ? undefined : (record) => logsOf(record, config);

/**
 * Counters and gauges as they are sent. `stream` is set for counters: it counts as sent once its last point (`last`) is accepted;
 * the points of one stream follow each other.
 */
export async function metricRows(drain: Drain, settings: Destinations) {
  const temporality = drain.loaded.config.otlp.metrics.temporality;
  const nowMs = backendNowMs(drain);
  const gauges = [
    ...(await selfGauges(drain, settings.traces !== undefined, nowMs)),
    ...(await rateLimitGauges(drain, nowMs)),
  ];
  const streams = pendingStreams(drain.db, METRIC_SHAPES, temporality, nowMs).filter(
    (stream) => drain.loaded.config.selfTelemetry || !isSelfStream(stream),
  );
  const rows = [
    ...streams.flatMap((stream) =>
      stream.points.map((record, i) => ({ stream, record, last: i === stream.points.length - 1 })),
    ),
    // Nothing to store after sending
    ...gauges.map((record) => ({ stream: undefined, record, last: true })),
  ];
  return rows
    .flatMap(({ record, ...rest }) => {
      const allowed = pointToSend(drain, record);
      return allowed === undefined ? [] : [{ record: allowed, ...rest }];
    })
    .map((row, seq) => ({ seq, ...row }));
}

/** Queued records of one part of a queue, oldest first. */
export function* rowsOf<Queued extends { readonly seq: number }>(
  { db }: Drain,
  { read }: Pick<Queue<Queued, unknown>, "read">,
  part: OutboxPart,
): Generator<Queued> {
  let after = 0;
  for (;;) {
    const rows = read(db, after, ROWS_PER_READ, part);
    if (rows.length === 0) return;
    yield* rows;
    after = rows.at(-1)?.seq ?? after;
  }
}

// --- internal ---

const spanAtLevel = (drain: Drain, record: SpanRecord): SpanRecord =>
  protectSpan(drain, recordAtLevel(record, drain.loaded.config.capture, ownNamesOf(drain)));

/** Resource attributes that identify the user. Empty unless the settings ask for them. */
export async function identityOf({
  db,
  loaded: { config },
  places,
}: Pick<Drain, "db" | "loaded" | "places">): Promise<Readonly<Record<string, string>>> {
  const { user, salt } = config.identity;
  if (user === "none") return {};
  return userAttributes(user, await currentUser(places.home), salt ?? ownKey(db));
}

const unprotected = (drain: Drain): OtlpSettings =>
  otlpSettings(drain.loaded.config, {
    version: drain.version,
    instanceId: instanceId(drain.db, drain.places),
    os: drain.platform,
    arch: drain.arch,
  });

/** @returns `undefined` if the point cannot be redacted: its sum stays in the store, and other points are sent */
function pointToSend(drain: Drain, point: MetricPoint): MetricPoint | undefined {
  try {
    return protectPoint(drain, point);
  } catch (error) {
    if (affectsAllSessions(error)) throw error;
    const text = `metrics: a point of ${point.shape.name} is not sent, because it cannot be redacted: ${messageOf(error)}`;
    reportProblemOnce(drain, text);
    return undefined;
  }
}

const ROWS_PER_READ = 500;

const KEY = "identity.key";

/** The key for pseudonyms on this machine; created once, never sent. */
function ownKey(db: Drain["db"]): string {
  return db.transaction(() => {
    const known = readMeta(db, KEY);
    if (known !== undefined) return known;
    const made = randomBytes(32).toString("hex");
    writeMeta(db, KEY, made);
    return made;
  });
}
