import { randomBytes } from "node:crypto";
import { otlpSettings } from "#config/otlp.ts";
import { currentUser } from "#config/repository/user-settings.ts";
import type { Destinations, OtlpSettings } from "#core/model/settings.ts";
import type { MetricPoint } from "#core/model/telemetry.ts";
import { userAttributes } from "#core/privacy/identity.ts";
import { recordAtLevel } from "#core/telemetry/level.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { messageOf } from "#kit/errors.ts";
import { reportProblemOnce } from "#store/capture/context.ts";
import { ownNamesOf } from "#store/capture/level.ts";
import { protectPoint, protectResource, protectSpan } from "#store/capture/protect.ts";
import { instanceId } from "#store/instance.ts";
import { readMeta, writeMeta } from "#store/meta.ts";
import { OUTBOX_PARTS, type OutboxPart, type OutboxRow, queuedSpans } from "#store/outbox.ts";
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

/** All queued spans as they are sent, in the order of sending. */
export function* spanRows(drain: Drain): Generator<OutboxRow> {
  for (const part of OUTBOX_PARTS) for (const row of rowsOf(drain, part)) yield rowAtLevel(drain, row);
}

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

/** Queued spans of one part of the outbox, oldest first. */
export function* rowsOf(drain: Drain, part: OutboxPart): Generator<OutboxRow> {
  let after = 0;
  for (;;) {
    const rows = queuedSpans(drain.db, after, ROWS_PER_READ, part);
    if (rows.length === 0) return;
    yield* rows;
    after = rows.at(-1)?.seq ?? after;
  }
}

/** A row as the current capture level and redaction rules allow it, whatever they were when it was stored. */
export const rowAtLevel = (drain: Drain, { seq, record }: OutboxRow): OutboxRow => ({
  seq,
  record: protectSpan(drain, recordAtLevel(record, drain.loaded.config.capture, ownNamesOf(drain))),
});

// --- internal ---

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
