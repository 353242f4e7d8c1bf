import type { Attributes, Increment } from "../model/telemetry.ts";
import type { Database } from "./database.ts";

/** Series of one metric, those for the rest included. What the OpenTelemetry SDKs keep by default. */
export const MAX_SERIES = 2_000;
/** Of these, for the rest: one for each agent, as long as there are no more agents than this. */
export const MAX_OVERFLOW_SERIES = 20;

/**
 * The attributes of everything that had no room any more.
 *
 * @see OpenTelemetry, Metrics SDK: cardinality limits
 */
export const OVERFLOW: Attributes = { "otel.metric.overflow": true };

/**
 * The series that an increment goes to: its own, if that is there already or there is room for it, else the one for the
 * rest. It depends on nothing but what is stored, so every run decides alike; and what has a series keeps it for ever, so
 * sums stay what they are.
 *
 * @param isThere whether a series is stored
 */
export function seriesFor(db: Database, increment: Increment, isThere: (increment: Increment) => boolean): Increment {
  if (isThere(increment)) return increment;
  const { metric, resource } = increment;
  if (seriesOf(db, metric) < MAX_SERIES - MAX_OVERFLOW_SERIES) return increment;
  const own = { ...increment, attributes: OVERFLOW };
  if (isThere(own) || overflowSeriesOf(db, metric) < MAX_OVERFLOW_SERIES - 1) return own;
  return { ...own, resource: Object.fromEntries(Object.keys(resource).map((name) => [name, "_OTHER"])) };
}

/** A metric that has more series than are kept apart. */
export interface Overflow {
  readonly metric: string;
  /** All of them. */
  readonly series: number;
  /** What the series for the rest hold: the sum of a counter in its own unit, the count of a histogram. */
  readonly amount: number;
}

/** The metrics whose limit was reached, by name; empty as long as none was. */
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

/** By the index alone: it is asked for every new series, and beyond the limit for each that has no room. */
const seriesOf = (db: Database, metric: string): number =>
  Number(db.prepare("SELECT count(*) AS n FROM counters WHERE metric = ?").get(metric)?.["n"]);

const overflowSeriesOf = (db: Database, metric: string): number =>
  Number(
    db
      .prepare("SELECT count(*) AS n FROM counters WHERE metric = ? AND attributes = ?")
      .get(metric, JSON.stringify(OVERFLOW))?.["n"],
  );
