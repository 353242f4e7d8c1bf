import type { Attributes, Increment, MetricShape } from "#core/model/telemetry.ts";
import { addToStream } from "./counters.ts";
import type { Database, Row } from "./database.ts";
import { differenceOf, type Histogram } from "./histogram.ts";

/**
 * Gives streams other attributes. Unsent amounts move to the stream with the new attributes; sent ones stay, and are not sent
 * again. Call it inside a transaction.
 *
 * @param shapes every metric by name
 * @param change returns the attributes a stream should have; the same object if they do not change
 * @throws Error for a metric without a shape
 */
export function mergeStreams(
  db: Database,
  shapes: ReadonlyMap<string, MetricShape>,
  nowMs: number,
  change: (stream: { readonly attributes: Attributes; readonly resource: Attributes }) => Attributes,
): void {
  const remove = db.prepare("DELETE FROM counters WHERE id = ?");
  const unsent: { readonly stream: Omit<Increment, "amount">; readonly what: number | Histogram }[] = [];
  for (const row of db.prepare("SELECT * FROM counters ORDER BY id").all()) {
    const attributes = JSON.parse(String(row["attributes"])) as Attributes;
    const resource = JSON.parse(String(row["resource"])) as Attributes;
    const changed = change({ attributes, resource });
    if (changed === attributes) continue;
    remove.run(Number(row["id"]));
    const what = unsentOf(row);
    const stream = { metric: String(row["metric"]), attributes: changed, resource };
    if (what !== undefined) unsent.push({ stream, what });
  }
  // Only now: the new stream can be one of the removed ones, and a metric has room only after the removal
  for (const { stream, what } of unsent) addToStream(db, stream, what, shapes, nowMs);
}

// --- internal ---

/** The part of a stream that was not sent yet, negative if too much was sent; `undefined` if that is nothing. */
function unsentOf(row: Row): number | Histogram | undefined {
  if (row["histogram"] === null) {
    const amount = Number(row["value"]) - Number(row["owed"]) - Number(row["sent_value"] ?? 0);
    return amount === 0 ? undefined : amount;
  }
  const now = histogramIn(row["histogram"]);
  const sent = row["sent_histogram"];
  const histogram = typeof sent === "string" ? differenceOf(now, histogramIn(sent)) : now;
  return histogram.count > 0 ? histogram : undefined;
}

const histogramIn = (text: unknown): Histogram => JSON.parse(String(text)) as Histogram;
