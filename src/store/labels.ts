import type { Attributes, Increment } from "#core/model/telemetry.ts";
import type { Database } from "./database.ts";
import { readMeta, writeMeta } from "./meta.ts";

/**
 * Stores the labels that every counter gets from now on. Existing streams keep their labels: under others a backend would see a
 * new series with the whole sum in it. Call it inside a transaction.
 *
 * @param labels those of `SERIES_LABELS` that the settings contain
 */
export function setLabels(db: Database, labels: Attributes): void {
  const text = JSON.stringify(labels);
  if (readMeta(db, LABELS) !== text) writeMeta(db, LABELS, text);
}

/** The labels that `setLabels` stored last. */
export const labelsOf = (db: Database): Attributes => JSON.parse(readMeta(db, LABELS) ?? "{}") as Attributes;

/** Attributes as JSON, independent of their order. */
export const sortedJson = (attributes: Attributes): string =>
  JSON.stringify(Object.fromEntries(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1))));

/** The key that identifies a stream. */
export const streamKeyOf = ({ metric, attributes, resource }: Omit<Increment, "amount">): string =>
  JSON.stringify([metric, sortedJson(resource), sortedJson(attributes)]);

// --- internal ---

const LABELS = "metrics.labels";
