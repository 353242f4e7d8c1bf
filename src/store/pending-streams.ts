import type { Attributes, MetricPoint, MetricShape } from "#core/model/telemetry.ts";
import { EARLIEST_MS } from "#kit/time.ts";
import { shapeOf } from "./counters.ts";
import type { Database, Row } from "./database.ts";
import { differenceOf, emptyHistogram, type Histogram } from "./histogram.ts";

/** A stream with points to send, and the state to store when the backend has accepted them. */
export interface PendingStream {
  readonly id: number;
  readonly points: readonly MetricPoint[];
  /** The state that the points report. */
  readonly value: number | null;
  readonly histogram: string | null;
  readonly sentMs: number;
}

/**
 * Streams as points of one time: for cumulative temporality all of them except retired ones (see `retireStreams`), for delta those
 * that changed since they were last sent.
 * A cumulative stream that was never sent has a point of value zero first, so that backends see its first value as an increase.
 *
 * @param shapes every metric by name
 * @param nowMs milliseconds since the epoch
 * @throws Error for a stored metric without a shape
 */
export function pendingStreams(
  db: Database,
  shapes: ReadonlyMap<string, MetricShape>,
  temporality: "cumulative" | "delta",
  nowMs: number,
): readonly PendingStream[] {
  const sql =
    temporality === "delta"
      ? "SELECT * FROM counters WHERE changed = 1 ORDER BY id"
      : "SELECT * FROM counters WHERE retired = 0 ORDER BY id";
  return db
    .prepare(sql)
    .all()
    .map((row) => toStream(row, shapeOf(shapes, String(row["metric"])), temporality, nowMs));
}

/**
 * Sets times that are far in the future to now: streams that were started or sent while the clock was wrong. Backends reject
 * points with such times, and later points with earlier times. Cumulative sums lose nothing. Streams that were started by a clock
 * that was not set, and never sent, start now.
 */
export function clampTimes(db: Database, nowMs: number): void {
  if (nowMs > EARLIEST_MS)
    db.prepare("UPDATE counters SET start_ms = ? WHERE start_ms < ? AND sent_ms IS NULL").run(nowMs - 1, EARLIEST_MS);
  db.prepare("UPDATE counters SET start_ms = ? WHERE start_ms > ?").run(nowMs - 1, nowMs + AHEAD_MS);
  db.prepare("UPDATE counters SET sent_ms = ? WHERE sent_ms > ?").run(nowMs - 1, nowMs + AHEAD_MS);
}

/** Whether any counter increased since a backend last accepted it. @param except names of metrics that are ignored */
export const hasChangedStreams = (db: Database, except: readonly string[] = []): boolean =>
  db
    .prepare("SELECT 1 FROM counters WHERE changed = 1 AND metric NOT IN (SELECT value FROM json_each(?)) LIMIT 1")
    .get(JSON.stringify(except)) !== undefined;

/** Stores what a backend accepted. A counter that increased since then stays pending. */
export function markSent(db: Database, streams: readonly PendingStream[]): void {
  const update = db.prepare(
    `UPDATE counters SET sent_ms = ?, sent_value = ?, sent_histogram = ?,
       changed = CASE WHEN value IS ? AND histogram IS ? THEN 0 ELSE 1 END WHERE id = ?`,
  );
  for (const s of streams) update.run(s.sentMs, s.value, s.histogram, s.value, s.histogram, s.id);
}

/** How far ahead of its own clock Prometheus accepts a point. */
export const AHEAD_MS = 10 * 60_000;

// --- internal ---

/**
 * A stream's point of value zero is this much earlier than its first value. Not the time when the stream began, which can be
 * days ago: Prometheus rejects a whole request for one point older than an hour, including other machines' points that a
 * Collector put into it.
 */
const ZERO_BEFORE_MS = 60_000;

function toStream(row: Row, shape: MetricShape, temporality: "cumulative" | "delta", nowMs: number): PendingStream {
  const startMs = Number(row["start_ms"]);
  const sentMs = row["sent_ms"] === null || row["sent_ms"] === undefined ? undefined : Number(row["sent_ms"]);
  // Backends drop a point that is not newer than the last one, and a clock can be set back
  const timeMs = Math.max(nowMs, startMs + 1, sentMs === undefined ? 0 : sentMs + 1);
  const value = row["value"] === null ? null : Number(row["value"]);
  const histogram = row["histogram"] === null ? null : String(row["histogram"]);
  const shared = {
    shape,
    attributes: JSON.parse(String(row["attributes"])) as Attributes,
    resource: JSON.parse(String(row["resource"])) as Attributes,
  };
  const dataOf = (sum: number | null, text: string | null): MetricPoint["data"] =>
    text === null ? { kind: "sum", value: sum ?? 0 } : { kind: "histogram", ...(JSON.parse(text) as Histogram) };
  const zero: MetricPoint["data"] =
    shape.type === "counter" ? { kind: "sum", value: 0 } : { kind: "histogram", ...emptyHistogram(shape) };

  if (temporality === "delta") {
    const before = row["sent_value"] === null ? null : Number(row["sent_value"]);
    const beforeText = row["sent_histogram"] === null ? null : String(row["sent_histogram"]);
    const data = difference(dataOf(value, histogram), sentMs === undefined ? zero : dataOf(before, beforeText));
    const points: MetricPoint[] = [{ ...shared, startMs: sentMs ?? startMs, timeMs, data }];
    return { id: Number(row["id"]), points, value, histogram, sentMs: timeMs };
  }
  const zeroMs = Math.max(startMs, timeMs - ZERO_BEFORE_MS);
  const first: MetricPoint[] = sentMs === undefined ? [{ ...shared, startMs, timeMs: zeroMs, data: zero }] : [];
  return {
    id: Number(row["id"]),
    points: [...first, { ...shared, startMs, timeMs, data: dataOf(value, histogram) }],
    value,
    histogram,
    sentMs: timeMs,
  };
}

function difference(now: MetricPoint["data"], before: MetricPoint["data"]): MetricPoint["data"] {
  if (now.kind === "sum") return { kind: "sum", value: now.value - (before.kind === "sum" ? before.value : 0) };
  if (now.kind === "gauge" || before.kind !== "histogram") return now;
  return { kind: "histogram", ...differenceOf(now, before) };
}
