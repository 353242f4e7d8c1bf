import type { Attributes } from "#core/model/telemetry.ts";
import { SERIES_LABELS } from "#core/rules/series-labels.ts";
import type { Database } from "./database.ts";
import { readMeta, writeMeta } from "./meta.ts";
import { sortedJson, streamKeyOf } from "./stream-key.ts";

/**
 * Stores the labels that every counter gets from now on. Existing streams keep their labels: under others a backend would see a
 * new series with the whole sum in it. Call it inside a transaction.
 *
 * @param labels those of `SERIES_LABELS` that the settings contain
 */
export function setLabels(db: Database, labels: Attributes): void {
  const known = readMeta(db, LABELS);
  const text = JSON.stringify(labels);
  if (known === text) return;
  writeMeta(db, LABELS, text);
  // A store of an earlier version: it sent its streams with these labels
  if (known === undefined) labelAll(db, labels);
}

/** The labels that `setLabels` stored last. */
export const labelsOf = (db: Database): Attributes => JSON.parse(readMeta(db, LABELS) ?? "{}") as Attributes;

/** Attributes without the labels from the settings. */
export const withoutLabels = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([name]) => !SERIES_LABELS.includes(name)));

// --- internal ---

const LABELS = "metrics.labels";

function labelAll(db: Database, labels: Attributes): void {
  if (Object.keys(labels).length === 0) return;
  const update = db.prepare("UPDATE counters SET identity = ?, attributes = ? WHERE id = ?");
  for (const { id, metric, attributes, resource } of db.prepare("SELECT * FROM counters WHERE retired < 2").all()) {
    const all = JSON.parse(String(attributes)) as Attributes;
    const of = { metric: String(metric), attributes: { ...all, ...labels }, resource: JSON.parse(String(resource)) };
    update.run(streamKeyOf(of), sortedJson(of.attributes), Number(id));
  }
}
