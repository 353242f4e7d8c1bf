import type { Attributes, Counted, Increment, MetricPoint, MetricShape } from "../model/telemetry.ts";
import { place } from "./cardinality.ts";
import type { Database, Row } from "./database.ts";
import { hasForgotten, isForgotten } from "./forgotten.ts";
import { labelsOf, withoutLabels } from "./labels.ts";
import { sortedJson, streamKeyOf } from "./stream-key.ts";

/** A cumulative histogram as it is kept. */
export interface Histogram {
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  readonly bucketCounts: readonly number[];
}

/**
 * Adds what facts count, each fact once for ever. Part of the transaction that settles the facts.
 *
 * @param shapes every metric by name; one that is not there is a mistake of ours and throws
 * @returns how many facts were new
 */
export function count(
  db: Database,
  facts: readonly Counted[],
  shapes: ReadonlyMap<string, MetricShape>,
  nowMs: number,
): number {
  return db.transaction(() => countNew(db, facts, shapes, nowMs));
}

function countNew(
  db: Database,
  facts: readonly Counted[],
  shapes: ReadonlyMap<string, MetricShape>,
  nowMs: number,
): number {
  const fresh = db.prepare("INSERT INTO increments (key) VALUES (?) ON CONFLICT DO NOTHING");
  const mayBeForgotten = hasForgotten(db);
  const labels = labelsOf(db);
  let counted = 0;
  // A settlement can hold thousands of steps for a few dozen streams: each stream is written once
  const steps = new Map<string, Increment[]>();
  for (const fact of facts) {
    if (mayBeForgotten && isForgotten(db, "increment", fact.key)) continue;
    if (fresh.run(fact.key).changes === 0) continue;
    counted++;
    gather(steps, fact.increments, labels);
  }
  for (const increments of steps.values()) add(db, increments, shapes, nowMs);
  return counted;
}

/** Adds steps that no fact stands behind and that come once by themselves: the program's own figures. */
export function addSteps(
  db: Database,
  increments: readonly Increment[],
  shapes: ReadonlyMap<string, MetricShape>,
  nowMs: number,
): void {
  if (increments.length === 0) return;
  db.transaction(() => {
    const steps = new Map<string, Increment[]>();
    gather(steps, increments, labelsOf(db));
    for (const same of steps.values()) add(db, same, shapes, nowMs);
  });
}

/** What a counter's streams of these attributes stand at, whatever the settings said of each; 0 before the first step. */
export const streamValue = (db: Database, { metric, attributes }: Omit<Increment, "amount" | "resource">): number =>
  counterValues(db)
    .filter(
      (stream) => stream.metric === metric && sortedJson(withoutLabels(stream.attributes)) === sortedJson(attributes),
    )
    .reduce((sum, { value }) => sum + value, 0);

export { type Overflow, overflowState } from "./cardinality.ts";

/** A stream that has something to tell, and what to note when the backend has taken it. */
export interface PendingStream {
  readonly id: number;
  readonly points: readonly MetricPoint[];
  /** The state those points tell. */
  readonly value: number | null;
  readonly histogram: string | null;
  readonly sentMs: number;
}

/**
 * All streams, as points of one moment. Streams that were never sent have a zero point before it, so that the first
 * value is seen as an increase.
 *
 * @param all false: only those that changed since they were last taken
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
      : "SELECT * FROM counters ORDER BY id";
  return db
    .prepare(sql)
    .all()
    .map((row) => toStream(row, shapeOf(shapes, String(row["metric"])), temporality, nowMs));
}

/**
 * Streams that were begun, or sent, when the clock was far ahead: no backend takes points of then, and none that come after
 * them. They are of now. Cumulative sums lose nothing by it.
 */
export function endFutures(db: Database, nowMs: number): void {
  db.prepare("UPDATE counters SET start_ms = ? WHERE start_ms > ?").run(nowMs - 1, nowMs + AHEAD_MS);
  db.prepare("UPDATE counters SET sent_ms = ? WHERE sent_ms > ?").run(nowMs - 1, nowMs + AHEAD_MS);
}

/** Whether any counter grew since a backend last took it. @param except metrics that do not matter for it */
export const hasChangedStreams = (db: Database, except: readonly string[] = []): boolean =>
  db
    .prepare("SELECT 1 FROM counters WHERE changed = 1 AND metric NOT IN (SELECT value FROM json_each(?)) LIMIT 1")
    .get(JSON.stringify(except)) !== undefined;

/** Notes what a backend has taken. A counter that grew meanwhile stays pending. */
export function markSent(db: Database, streams: readonly PendingStream[]): void {
  const update = db.prepare(
    `UPDATE counters SET sent_ms = ?, sent_value = ?, sent_histogram = ?,
       changed = CASE WHEN value IS ? AND histogram IS ? THEN 0 ELSE 1 END WHERE id = ?`,
  );
  for (const s of streams) update.run(s.sentMs, s.value, s.histogram, s.value, s.histogram, s.id);
}

/** The current sums, for `show`, `status` and tests. */
export const counterValues = (
  db: Database,
): readonly {
  readonly metric: string;
  readonly attributes: Attributes;
  readonly resource: Attributes;
  readonly value: number;
  /** What of it was too much, and is taken off what is counted next. */
  readonly owed: number;
}[] =>
  db
    .prepare("SELECT metric, attributes, resource, value, owed, histogram FROM counters ORDER BY metric, id")
    .all()
    .map((row) => ({
      metric: String(row["metric"]),
      attributes: JSON.parse(String(row["attributes"])) as Attributes,
      resource: JSON.parse(String(row["resource"])) as Attributes,
      value: row["value"] === null ? (JSON.parse(String(row["histogram"])) as Histogram).count : Number(row["value"]),
      owed: Number(row["owed"]),
    }));

/** Adds an amount, or a histogram of the same bounds, to one stream; makes the stream where there is none. */
export function addToStream(
  db: Database,
  { metric, attributes, resource }: Omit<Increment, "amount">,
  what: number | Histogram,
  shapes: ReadonlyMap<string, MetricShape>,
  nowMs: number,
): void {
  const amount = typeof what === "number" ? what : 0;
  const identity = makeStream(db, { metric, attributes, resource, amount }, shapeOf(shapes, metric), nowMs);
  if (typeof what === "number") {
    grow(db, identity, what);
    return;
  }
  const row = db.prepare("SELECT histogram FROM counters WHERE identity = ?").get(identity);
  const sum = together(JSON.parse(String(row?.["histogram"])) as Histogram, what);
  db.prepare("UPDATE counters SET histogram = ?, changed = 1 WHERE identity = ?").run(JSON.stringify(sum), identity);
}

/** How far ahead of its own clock Prometheus takes a point. */
export const AHEAD_MS = 10 * 60_000;

// --- internal ---

/**
 * How long before its first value a stream's zero is dated, and not when the stream began: that can be days ago, and
 * Prometheus refuses the whole request for one point older than an hour, with what a Collector put into it of other machines.
 */
const ZERO_BEFORE_MS = 60_000;

const together = (a: Histogram, b: Histogram): Histogram => ({
  count: a.count + b.count,
  sum: a.sum + b.sum,
  min: a.count === 0 ? b.min : Math.min(a.min, b.min),
  max: a.count === 0 ? b.max : Math.max(a.max, b.max),
  bucketCounts: b.bucketCounts.map((n, i) => n + (a.bucketCounts[i] ?? 0)),
});

function gather(steps: Map<string, Increment[]>, increments: readonly Increment[], labels: Attributes): void {
  for (const one of increments) {
    const increment = { ...one, attributes: { ...one.attributes, ...labels } };
    const identity = streamKeyOf(increment);
    const known = steps.get(identity);
    if (known === undefined) steps.set(identity, [increment]);
    else known.push(increment);
  }
}

function shapeOf(shapes: ReadonlyMap<string, MetricShape>, metric: string): MetricShape {
  const shape = shapes.get(metric);
  if (shape === undefined) throw new Error(`no metric is called ${JSON.stringify(metric)}`);
  return shape;
}

function add(
  db: Database,
  increments: readonly Increment[],
  shapes: ReadonlyMap<string, MetricShape>,
  nowMs: number,
): void {
  const first = increments[0];
  if (first === undefined) return;
  const shape = shapeOf(shapes, first.metric);
  const identity = makeStream(db, first, shape, nowMs);
  if (shape.type === "counter") {
    const amount = increments.reduce((sum, increment) => sum + increment.amount, 0);
    grow(db, identity, amount);
    return;
  }
  const row = db.prepare("SELECT histogram FROM counters WHERE identity = ?").get(identity);
  const before = JSON.parse(String(row?.["histogram"])) as Histogram;
  const grown = increments.reduce((h, increment) => record(h, shape.bounds ?? [], increment.amount), before);
  db.prepare("UPDATE counters SET histogram = ?, changed = 1 WHERE identity = ?").run(JSON.stringify(grown), identity);
}

/** Adds to a counter what is more than it owes. */
function grow(db: Database, identity: string, amount: number): void {
  db.prepare(
    `UPDATE counters SET value = value + max(0, ?1 - owed), owed = max(0, owed - ?1),
       changed = CASE WHEN ?1 >= owed THEN 1 ELSE changed END WHERE identity = ?2`,
  ).run(amount, identity);
}

/** Makes a stream where there is none. @returns its identity, or that of the stream that takes what has no room */
function makeStream(db: Database, increment: Increment, shape: MetricShape, nowMs: number): string {
  const known = db.prepare("SELECT 1 FROM counters WHERE identity = ?");
  const of = place(db, increment, (one) => known.get(streamKeyOf(one)) !== undefined);
  const identity = streamKeyOf(of);
  const empty = shape.type === "histogram" ? JSON.stringify(emptyHistogram(shape)) : null;
  db.prepare(
    `INSERT INTO counters (identity, metric, attributes, resource, start_ms, value, histogram)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  ).run(
    identity,
    of.metric,
    sortedJson(of.attributes),
    sortedJson(of.resource),
    nowMs,
    shape.type === "counter" ? 0 : null,
    empty,
  );
  return identity;
}

const emptyHistogram = (shape: MetricShape): Histogram => ({
  count: 0,
  sum: 0,
  min: 0,
  max: 0,
  bucketCounts: new Array<number>((shape.bounds?.length ?? 0) + 1).fill(0),
});

function record(h: Histogram, bounds: readonly number[], value: number): Histogram {
  const found = bounds.findIndex((bound) => value <= bound);
  const bucket = found === -1 ? bounds.length : found;
  return {
    count: h.count + 1,
    sum: h.sum + value,
    min: h.count === 0 ? value : Math.min(h.min, value),
    max: h.count === 0 ? value : Math.max(h.max, value),
    bucketCounts: h.bucketCounts.map((n, i) => (i === bucket ? n + 1 : n)),
  };
}

function toStream(row: Row, shape: MetricShape, temporality: "cumulative" | "delta", nowMs: number): PendingStream {
  const startMs = Number(row["start_ms"]);
  const sentMs = row["sent_ms"] === null || row["sent_ms"] === undefined ? undefined : Number(row["sent_ms"]);
  // Backends drop a point that is not newer than the last one, and a clock can step back
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

/** Minimum and maximum of the new values alone are not known; the whole stream's are the closest that is true. */
function difference(now: MetricPoint["data"], before: MetricPoint["data"]): MetricPoint["data"] {
  if (now.kind === "sum") return { kind: "sum", value: now.value - (before.kind === "sum" ? before.value : 0) };
  if (now.kind === "gauge" || before.kind !== "histogram") return now;
  return {
    kind: "histogram",
    count: now.count - before.count,
    sum: now.sum - before.sum,
    min: now.min,
    max: now.max,
    bucketCounts: now.bucketCounts.map((n, i) => n - (before.bucketCounts[i] ?? 0)),
  };
}
