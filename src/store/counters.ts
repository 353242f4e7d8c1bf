import type { Attributes, Counted, Increment, MetricShape } from "#core/model/telemetry.ts";
import { SHOWN_MS, seriesFor } from "./cardinality.ts";
import type { Database, Row } from "./database.ts";
import { hasCountedBefore, isCountedBefore, markCountedLately } from "./delivered-log.ts";
import { emptyHistogram, type Histogram, sumOf, withValue } from "./histogram.ts";
import { labelsOf, sortedJson, streamKeyOf } from "./labels.ts";
import { hasPrunedFacts, isPrunedFact } from "./pruned-facts.ts";

/**
 * Adds the increments of facts to their streams. A fact that was counted before adds nothing. Part of the transaction that
 * settles the facts.
 *
 * @param shapes every metric by name
 * @returns how many facts were new
 * @throws Error for a metric without a shape
 */
export function countFacts(
  db: Database,
  facts: readonly Counted[],
  shapes: ReadonlyMap<string, MetricShape>,
  nowMs: number,
): number {
  return db.transaction(() => countNew(db, facts, shapes, nowMs));
}

/** Whether a fact is in the counters. @param key as in `countFacts` */
export const isCounted = (db: Database, key: string): boolean =>
  db.prepare("SELECT 1 FROM increments WHERE key = ?").get(key) !== undefined ||
  isPrunedFact(db, "increment", key) ||
  isCountedBefore(db, key);

/** Adds increments without a fact, which the caller adds only once: the program's own metrics. */
export function addSteps(
  db: Database,
  increments: readonly Increment[],
  shapes: ReadonlyMap<string, MetricShape>,
  nowMs: number,
): void {
  if (increments.length === 0) return;
  db.transaction(() => {
    const steps: Steps = new Map();
    groupByStream(steps, increments, labelsOf(db));
    for (const same of steps.values()) add(db, same, shapes, nowMs);
  });
}

/** Every stream with its current value, in the unit in which it is stored; the value of a histogram is its count. */
export const counterValues = (
  db: Database,
): readonly {
  readonly metric: string;
  readonly attributes: Attributes;
  readonly resource: Attributes;
  readonly value: number;
  /** How much of the value was counted too often; it is subtracted from later increments. */
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

/**
 * Adds an amount, or a histogram of the same bounds, to one stream, which is created if needed.
 *
 * @throws Error for a metric without a shape
 */
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
    increase(db, identity, what);
    return;
  }
  const row = db.prepare("SELECT histogram FROM counters WHERE identity = ?").get(identity);
  const sum = sumOf(JSON.parse(String(row?.["histogram"])) as Histogram, what);
  db.prepare("UPDATE counters SET histogram = ?, changed = 1 WHERE identity = ?").run(JSON.stringify(sum), identity);
}

/** @throws Error for a metric that is not in `shapes`: a mistake in this program */
export function shapeOf(shapes: ReadonlyMap<string, MetricShape>, metric: string): MetricShape {
  const shape = shapes.get(metric);
  if (shape === undefined) throw new Error(`no metric is called ${JSON.stringify(metric)}`);
  return shape;
}

// --- internal ---

function countNew(
  db: Database,
  facts: readonly Counted[],
  shapes: ReadonlyMap<string, MetricShape>,
  nowMs: number,
): number {
  const fresh = db.prepare("INSERT INTO increments (key) VALUES (?) ON CONFLICT DO NOTHING");
  const mayBePruned = hasPrunedFacts(db);
  const mayBeDelivered = hasCountedBefore(db);
  const labels = labelsOf(db);
  let counted = 0;
  // A settlement can contain thousands of increments for a few dozen streams: each stream is written once
  const steps: Steps = new Map();
  for (const fact of facts) {
    if (mayBePruned && isPrunedFact(db, "increment", fact.key)) continue;
    if (fresh.run(fact.key).changes === 0) continue;
    if (mayBeDelivered && isCountedBefore(db, fact.key)) continue;
    markCountedLately(db, fact.key);
    counted++;
    groupByStream(steps, fact.increments, labels, fact.key);
  }
  for (const same of steps.values()) add(db, same, shapes, nowMs);
  return counted;
}

/** Increments by stream, with the key of the first fact that adds to it. */
type Steps = Map<string, { readonly increments: Increment[]; readonly factKey: string | undefined }>;

function groupByStream(steps: Steps, increments: readonly Increment[], labels: Attributes, factKey?: string): void {
  for (const one of increments) {
    const increment = { ...one, attributes: { ...one.attributes, ...labels } };
    const identity = streamKeyOf(increment);
    const known = steps.get(identity);
    if (known === undefined) steps.set(identity, { increments: [increment], factKey });
    else known.increments.push(increment);
  }
}

function add(
  db: Database,
  { increments, factKey }: { readonly increments: readonly Increment[]; readonly factKey: string | undefined },
  shapes: ReadonlyMap<string, MetricShape>,
  nowMs: number,
): void {
  const first = increments[0];
  if (first === undefined) return;
  const shape = shapeOf(shapes, first.metric);
  const identity = makeStream(db, first, shape, nowMs, factKey);
  if (shape.type === "counter") {
    const amount = increments.reduce((sum, increment) => sum + increment.amount, 0);
    increase(db, identity, amount);
    return;
  }
  const row = db.prepare("SELECT histogram FROM counters WHERE identity = ?").get(identity);
  const before = JSON.parse(String(row?.["histogram"])) as Histogram;
  const grown = increments.reduce((h, increment) => withValue(h, shape.bounds ?? [], increment.amount), before);
  db.prepare("UPDATE counters SET histogram = ?, changed = 1 WHERE identity = ?").run(JSON.stringify(grown), identity);
}

/** Adds the part of an amount that exceeds what the counter owes. */
function increase(db: Database, identity: string, amount: number): void {
  db.prepare(
    `UPDATE counters SET value = value + max(0, ?1 - owed), owed = max(0, owed - ?1),
       changed = CASE WHEN ?1 >= owed THEN 1 ELSE changed END WHERE identity = ?2`,
  ).run(amount, identity);
}

/** Creates a stream if needed. @returns its identity, or that of the overflow stream if the metric has no room for more */
function makeStream(db: Database, increment: Increment, shape: MetricShape, nowMs: number, factKey?: string): string {
  const known = db.prepare("SELECT retired, sent_ms FROM counters WHERE identity = ?");
  const isSent = (one: Increment): boolean => known.get(streamKeyOf(one))?.["retired"] === 0;
  const madeBy = isSent(increment) ? undefined : sessionOf(factKey);
  const of = seriesFor(db, increment, isSent, madeBy);
  const identity = streamKeyOf(of);
  bringBack(db, identity, known.get(identity), nowMs);
  const empty = shape.type === "histogram" ? JSON.stringify(emptyHistogram(shape)) : null;
  db.prepare(
    `INSERT INTO counters (identity, metric, attributes, resource, start_ms, value, histogram, made_by)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  ).run(
    identity,
    of.metric,
    sortedJson(of.attributes),
    sortedJson(of.resource),
    nowMs,
    shape.type === "counter" ? 0 : null,
    empty,
    of === increment ? (madeBy ?? null) : null,
  );
  db.prepare("UPDATE counters SET changed_ms = ? WHERE identity = ?").run(nowMs, identity);
  return identity;
}

/**
 * Lets a retired stream continue. After four weeks dashboards no longer see its last value and would show the whole sum as counted
 * today, so a new stream begins at zero and the old one only keeps its sum.
 */
function bringBack(db: Database, identity: string, stored: Row | undefined, nowMs: number): void {
  if (stored === undefined || stored["retired"] === 0) return;
  if (nowMs - Number(stored["sent_ms"] ?? 0) < SHOWN_MS) {
    db.prepare("UPDATE counters SET retired = 0 WHERE identity = ?").run(identity);
    return;
  }
  db.prepare("UPDATE counters SET retired = 2, identity = identity || ' ' || id WHERE identity = ?").run(identity);
}

/** Keys of counted facts begin with source and session, as JSON; see telemetry/metrics.ts. */
function sessionOf(factKey: string | undefined): string | undefined {
  if (factKey === undefined) return undefined;
  try {
    const [source, sessionId]: unknown[] = JSON.parse(factKey);
    return typeof source === "string" && typeof sessionId === "string" ? `${source}/${sessionId}` : undefined;
  } catch {
    return undefined;
  }
}
