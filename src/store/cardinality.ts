import type { Attributes, Increment } from "#core/model/telemetry.ts";
import type { Database } from "./database.ts";

/** Limit of series per metric that are sent, overflow series included. The OpenTelemetry SDKs have the same default. */
export const MAX_SERIES = 2_000;
/** Of these, overflow series: one per agent, unless there are more agents than this. */
export const MAX_OVERFLOW_SERIES = 20;
/** Series per metric that one session may create, so that it cannot use up the limit. */
export const MAX_SERIES_OF_SESSION = 200;

/**
 * The attributes of overflow series: increments for which the metric has no room.
 *
 * @see OpenTelemetry, Metrics SDK: cardinality limits
 */
export const OVERFLOW: Attributes = { "otel.metric.overflow": true };

/**
 * The series that an increment is added to: its own if that exists or there is room for it, otherwise an overflow series. The
 * result depends only on what is stored, so every run decides the same; a series that exists is kept, so sums stay correct.
 *
 * @param isThere whether a series is stored and sent
 * @param madeBy the session that the increment comes from, if any
 * @returns the increment itself, or the same amount for an overflow series
 */
export function seriesFor(
  db: Database,
  increment: Increment,
  isThere: (increment: Increment) => boolean,
  madeBy: string | undefined,
): Increment {
  if (isThere(increment)) return increment;
  const { metric, resource } = increment;
  const hasRoom = seriesOf(db, metric) < MAX_SERIES - MAX_OVERFLOW_SERIES;
  if (hasRoom && (madeBy === undefined || seriesMadeBy(db, metric, madeBy) < MAX_SERIES_OF_SESSION)) return increment;
  const own = { ...increment, attributes: OVERFLOW };
  if (isThere(own) || overflowSeriesOf(db, metric) < MAX_OVERFLOW_SERIES - 1) return own;
  return { ...own, resource: Object.fromEntries(Object.keys(resource).map((name) => [name, "_OTHER"])) };
}

/** A metric with increments for which it had no room. */
export interface Overflow {
  readonly metric: string;
  /** All series of the metric that are sent. */
  readonly series: number;
  /** Sum of the overflow series: of a counter in its own unit, of a histogram its count. */
  readonly amount: number;
  /** The session that made most of the series, as `<source>/<session id>`; absent if that is not known. */
  readonly madeMost?: { readonly session: string; readonly series: number };
}

/** The metrics with overflow series that are still sent, by name; empty if there are none. */
export const overflowState = (db: Database): readonly Overflow[] =>
  db
    .prepare(
      `SELECT metric, sum(coalesce(value, json_extract(histogram, '$.count'))) AS amount,
         (SELECT count(*) FROM counters c WHERE c.metric = o.metric AND c.retired = 0) AS series
       FROM counters o WHERE attributes = ? AND retired = 0 GROUP BY metric ORDER BY metric`,
    )
    .all(JSON.stringify(OVERFLOW))
    .map((row) => {
      const metric = String(row["metric"]);
      const most = db
        .prepare(
          `SELECT made_by, count(*) AS n FROM counters WHERE metric = ? AND retired = 0 AND made_by IS NOT NULL
           GROUP BY made_by ORDER BY n DESC, made_by LIMIT 1`,
        )
        .get(metric);
      return {
        metric,
        series: Number(row["series"]),
        amount: Number(row["amount"]),
        ...(most !== undefined && { madeMost: { session: String(most["made_by"]), series: Number(most["n"]) } }),
      };
    });

/**
 * Retires series that have not increased since a time and have nothing to send: they are not sent any more, and make room for
 * others. Their sums stay, and a series that increases again continues.
 */
export const retireStreams = (db: Database, beforeMs: number): void => {
  db.prepare("UPDATE counters SET retired = 1 WHERE retired = 0 AND changed = 0 AND coalesce(changed_ms, 0) < ?").run(
    beforeMs,
  );
};

/**
 * Retires series of versions that agents have not had for a week: every release makes new ones, and hardly anybody goes back.
 *
 * @param metrics those by version
 */
export const retireVersions = (db: Database, metrics: readonly string[], nowMs: number): void => {
  db.prepare(
    `UPDATE counters SET retired = 1 WHERE metric IN (SELECT value FROM json_each(?)) AND retired = 0 AND changed = 0
       AND coalesce(changed_ms, 0) < ?`,
  ).run(JSON.stringify(metrics), nowMs - VERSION_MS);
};

/** Retires series of metrics that are nearly full, if they have not increased for a day. */
export function makeRoom(db: Database, nowMs: number): void {
  const full = db
    .prepare("SELECT metric FROM counters WHERE retired = 0 GROUP BY metric HAVING count(*) >= ?")
    .all(MAX_SERIES - MAX_OVERFLOW_SERIES - MAX_SERIES_OF_SESSION);
  const retire = db.prepare(
    `UPDATE counters SET retired = 1 WHERE metric = ? AND retired = 0 AND changed = 0 AND coalesce(changed_ms, 0) < ?`,
  );
  for (const { metric } of full) retire.run(String(metric), nowMs - IDLE_MS);
}

/**
 * Deletes retired series that no backend shows any more. Their sums belong to sessions that are pruned too.
 *
 * @param beforeMs age at which sessions are pruned
 */
export const forgetRetired = (db: Database, beforeMs: number, nowMs: number): void => {
  db.prepare("DELETE FROM counters WHERE retired > 0 AND changed = 0 AND sent_ms < ?").run(
    Math.min(beforeMs, nowMs - SHOWN_MS),
  );
};

/** Dashboards look for values of a counter up to 30 days back, see `dashboards/src/promql.ts`. */
export const SHOWN_MS = 28 * 86_400_000;

// --- internal ---

const IDLE_MS = 86_400_000;
const VERSION_MS = 7 * IDLE_MS;

/** Uses the index only: it runs for every new series, and beyond the limit for each increment without room. */
const seriesOf = (db: Database, metric: string): number =>
  Number(db.prepare("SELECT count(*) AS n FROM counters WHERE metric = ? AND retired = 0").get(metric)?.["n"]);

/** Includes retired series: a session does not get more room by lasting longer. */
const seriesMadeBy = (db: Database, metric: string, madeBy: string): number =>
  Number(db.prepare("SELECT count(*) AS n FROM counters WHERE made_by = ? AND metric = ?").get(madeBy, metric)?.["n"]);

const overflowSeriesOf = (db: Database, metric: string): number =>
  Number(
    db
      .prepare("SELECT count(*) AS n FROM counters WHERE metric = ? AND retired = 0 AND attributes = ?")
      .get(metric, JSON.stringify(OVERFLOW))?.["n"],
  );
