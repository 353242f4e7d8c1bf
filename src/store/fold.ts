import type { Attributes, MetricShape } from "../model/telemetry.ts";
import { addToStream, type Histogram } from "./counters.ts";
import type { Database } from "./database.ts";

/**
 * Gives streams other attributes. What no backend was told of a stream yet goes to the one that takes its place; what it was
 * told stays told, and is not told again. Call it inside a transaction.
 *
 * @param change the attributes a stream should have; the same object where they can stay
 */
export function foldStreams(
  db: Database,
  shapes: ReadonlyMap<string, MetricShape>,
  nowMs: number,
  change: (stream: { readonly attributes: Attributes; readonly resource: Attributes }) => Attributes,
): void {
  for (const row of db.prepare("SELECT * FROM counters ORDER BY id").all()) {
    const attributes = JSON.parse(String(row["attributes"])) as Attributes;
    const resource = JSON.parse(String(row["resource"])) as Attributes;
    const changed = change({ attributes, resource });
    if (changed === attributes) continue;
    db.prepare("DELETE FROM counters WHERE id = ?").run(Number(row["id"]));
    const metric = String(row["metric"]);
    const stream = { metric, attributes: changed, resource };
    if (row["histogram"] === null) {
      const untold = Number(row["value"]) - Number(row["sent_value"] ?? 0);
      if (untold > 0) addToStream(db, stream, untold, shapes, nowMs);
      continue;
    }
    const untold = difference(histogramIn(row["histogram"]), row["sent_histogram"]);
    if (untold.count > 0) addToStream(db, stream, untold, shapes, nowMs);
  }
}

// --- internal ---

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
