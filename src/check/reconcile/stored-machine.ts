import type { Attributes } from "#core/model/telemetry.ts";
import { withSeriesLabels } from "#core/rules/series-labels.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import type { Database, Row } from "#store/database.ts";
import type { Histogram } from "#store/histogram.ts";
import { readMeta } from "#store/meta.ts";
import { outboxState } from "#store/outbox.ts";
import { hasPrunedFacts } from "#store/pruned-facts.ts";
import { rejectedPoints } from "#store/rejected-points.ts";
import { numbers } from "#store/rows.ts";
import type { Kind } from "./facts.ts";

/** What concerns all sessions together. */
export interface MachineFacts {
  readonly instanceId: string | undefined;
  readonly streams: readonly StoredStream[];
  /** Tokens of all settled calls in the store. */
  readonly tokens: Readonly<Record<Kind, number>>;
  /** Of these, calls that ended after the first token stream was created. */
  readonly tokensSince: Readonly<Record<Kind, number>>;
  /** Something was pruned: the sums include more than the sessions that are left. */
  readonly hasPruned: boolean;
  /** Spans that were dropped or refused before a backend accepted them, over all time. */
  readonly droppedSpans: number;
  /** Deltas that a backend rejected and has not got by now. */
  readonly missingPoints: number;
  readonly clockSkewMs: number;
}

/** One cumulative stream: its value, and the last one that a backend accepted. */
export interface StoredStream {
  readonly metric: string;
  readonly attributes: Attributes;
  readonly service: string;
  readonly value: StreamValue;
  /** Excess that is deducted from the next increments. */
  readonly owed: number;
  /** Absent: never sent. */
  readonly delivered?: StreamValue & { readonly atMs: number };
}

/** For a counter its sum; for a histogram the number of values and their sum. */
export interface StreamValue {
  readonly sum: number;
  readonly count?: number;
}

export function machineFacts(db: Database): MachineFacts {
  const streams = streamsOf(db);
  const beganMs = Math.min(...numbers(db, "SELECT start_ms FROM counters WHERE metric = 'openhook.token.usage'"));
  const outbox = outboxState(db);
  return {
    instanceId: readMeta(db, "instance.id"),
    streams,
    tokens: tokensAfter(db, Number.NEGATIVE_INFINITY),
    tokensSince: tokensAfter(db, beganMs),
    hasPruned: hasPrunedFacts(db),
    droppedSpans: outbox.droppedTotal + outbox.rejectedTotal + outbox.unclaimedTotal,
    missingPoints: rejectedPoints(db).missing,
    clockSkewMs: Number(readMeta(db, "clock.skew_ms") ?? "0"),
  };
}

// --- internal ---

function streamsOf(db: Database): readonly StoredStream[] {
  return db
    .prepare("SELECT * FROM counters ORDER BY metric, id")
    .all()
    .map((row) => {
      const delivered = valueIn(row, "sent_value", "sent_histogram");
      const { attributes, resource } = withSeriesLabels({
        attributes: JSON.parse(String(row["attributes"])) as Attributes,
        resource: JSON.parse(String(row["resource"])) as Attributes,
      });
      const { [semconv.SERVICE_NAME]: _, ...own } = attributes;
      return {
        metric: String(row["metric"]),
        attributes: own,
        service: String(resource[semconv.SERVICE_NAME] ?? ""),
        value: valueIn(row, "value", "histogram") ?? { sum: 0 },
        owed: Number(row["owed"]),
        ...(delivered !== undefined &&
          row["sent_ms"] !== null && { delivered: { ...delivered, atMs: Number(row["sent_ms"]) } }),
      };
    });
}

function valueIn(row: Row, sum: string, histogram: string): StreamValue | undefined {
  const [plain, text] = [row[sum], row[histogram]];
  if (typeof text === "string") {
    const found = JSON.parse(text) as Histogram;
    return { sum: found.sum, count: found.count };
  }
  return typeof plain === "number" ? { sum: plain } : undefined;
}

function tokensAfter(db: Database, ms: number): Readonly<Record<Kind, number>> {
  const row = db
    .prepare(
      `SELECT coalesce(sum(input), 0) AS input, coalesce(sum(output), 0) AS output,
         coalesce(sum(cache_read), 0) AS cacheRead, coalesce(sum(cache_write), 0) AS cacheWrite,
         coalesce(sum(json_extract(body, '$.usage.reasoning')), 0) AS reasoning FROM model_calls WHERE end_ms > ?`,
    )
    .get(Number.isFinite(ms) ? ms : ms > 0 ? Number.MAX_SAFE_INTEGER : -1);
  const tokensOf = (name: Kind): number => Number(row?.[name] ?? 0);
  return {
    input: tokensOf("input"),
    output: tokensOf("output"),
    cacheRead: tokensOf("cacheRead"),
    cacheWrite: tokensOf("cacheWrite"),
    reasoning: tokensOf("reasoning"),
  };
}
