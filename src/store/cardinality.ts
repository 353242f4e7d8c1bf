import type { Attributes, Increment } from "../model/telemetry.ts";
import type { Database } from "./database.ts";

/** Limit of series per metric, overflow series included. The OpenTelemetry SDKs have the same default. */
export const MAX_SERIES = 2_000;
/** Of these, overflow series: one per agent, unless there are more agents than this. */
export const MAX_OVERFLOW_SERIES = 20;

/**
 * The attributes of overflow series: increments for which the metric has no room.
 *
 * @see OpenTelemetry, Metrics SDK: cardinality limits
 */
export const OVERFLOW: Attributes = { "otel.metric.overflow": true };

/**
 * The series that an increment is added to: its own if that exists or there is room for it, otherwise an overflow series. The
 * result depends only on what is stored, so every run decides the same; a series that exists is kept permanently, so sums stay
 * correct.
 *
 * @param isThere whether a series is stored
 * @returns the increment itself, or the same amount for an overflow series
 */
export function seriesFor(db: Database, increment: Increment, isThere: (increment: Increment) => boolean): Increment {
  if (isThere(increment)) return increment;
  const { metric, resource } = increment;
  if (seriesOf(db, metric) < MAX_SERIES - MAX_OVERFLOW_SERIES) return increment;
  const own = { ...increment, attributes: OVERFLOW };
  if (isThere(own) || overflowSeriesOf(db, metric) < MAX_OVERFLOW_SERIES - 1) return own;
  return { ...own, resource: Object.fromEntries(Object.keys(resource).map((name) => [name, "_OTHER"])) };
}

/** A metric that has reached its limit of series. */
export interface Overflow {
  readonly metric: string;
  /** All series of the metric. */
  readonly series: number;
  /** Sum of the overflow series: of a counter in its own unit, of a histogram its count. */
  readonly amount: number;
}

/** The metrics that have reached their limit, by name; empty if none has. */
export const overflowState = (db: Database): readonly Overflow[] =>
  db
    .prepare(
      `SELECT metric, sum(coalesce(value, json_extract(histogram, '$.count'))) AS amount,
         (SELECT count(*) FROM counters c WHERE c.metric = o.metric) AS series
       FROM counters o WHERE attributes = ? GROUP BY metric ORDER BY metric`,
    )
    .all(JSON.stringify(OVERFLOW))
    .map((row) => ({ metric: String(row["metric"]), series: Number(row["series"]), amount: Number(row["amount"]) }));

// --- internal ---

/** Uses the index only: it runs for every new series, and beyond the limit for each increment without room. */
const seriesOf = (db: Database, metric: string): number =>
  Number(db.prepare("SELECT count(*) AS n FROM counters WHERE metric = ?").get(metric)?.["n"]);

const overflowSeriesOf = (db: Database, metric: string): number =>
  Number(
    db
      .prepare("SELECT count(*) AS n FROM counters WHERE metric = ? AND attributes = ?")
      .get(metric, JSON.stringify(OVERFLOW))?.["n"],
  );
