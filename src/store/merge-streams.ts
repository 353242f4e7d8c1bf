import type { Attributes, Increment, MetricShape } from "../model/telemetry.ts";
import { addToStream, type Histogram } from "./counters.ts";
import type { Database, Row } from "./database.ts";

/**
 * Gives streams other attributes. What no backend was told of a stream yet goes to the one that takes its place; what it was
 * told stays told, and is not told again. Call it inside a transaction.
 *
 * @param change the attributes a stream should have; the same object where they can stay
 */
export function mergeStreams(
  db: Database,
  shapes: ReadonlyMap<string, MetricShape>,
  nowMs: number,
  change: (stream: { readonly attributes: Attributes; readonly resource: Attributes }) => Attributes,
): void {
  const remove = db.prepare("DELETE FROM counters WHERE id = ?");
  const untold: { readonly stream: Omit<Increment, "amount">; readonly what: number | Histogram }[] = [];
  for (const row of db.prepare("SELECT * FROM counters ORDER BY id").all()) {
    const attributes = JSON.parse(String(row["attributes"])) as Attributes;
    const resource = JSON.parse(String(row["resource"])) as Attributes;
    const changed = change({ attributes, resource });
    if (changed === attributes) continue;
    remove.run(Number(row["id"]));
    const what = untoldOf(row);
    const stream = { metric: String(row["metric"]), attributes: changed, resource };
    if (what !== undefined) untold.push({ stream, what });
  }
  // A stream's place can be one that goes as well, and there is room only once they are gone
  for (const { stream, what } of untold) addToStream(db, stream, what, shapes, nowMs);
}

// --- internal ---

/** What no backend was told of a stream, negative where it was told too much; `undefined` where that is nothing. */
function untoldOf(row: Row): number | Histogram | undefined {
  if (row["histogram"] === null) {
    const amount = Number(row["value"]) - Number(row["owed"]) - Number(row["sent_value"] ?? 0);
    return amount === 0 ? undefined : amount;
  }
  const histogram = difference(histogramIn(row["histogram"]), row["sent_histogram"]);
  return histogram.count > 0 ? histogram : undefined;
}

const histogramIn = (text: unknown): Histogram => JSON.parse(String(text)) as Histogram;

/** Minimum and maximum of the new values alone are not known; the whole stream's are the closest that is true. */
function difference(now: Histogram, sent: unknown): Histogram {
  if (typeof sent !== "string") return now;
  const before = histogramIn(sent);
  return {
    ...now,
    count: now.count - before.count,
    sum: now.sum - before.sum,
    bucketCounts: now.bucketCounts.map((n, i) => n - (before.bucketCounts[i] ?? 0)),
  };
}
