import type { Clean } from "#collect/import/clean-entries.ts";
import { RowSink } from "#collect/import/row-sink.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { putEntry } from "#core/rules/put-facts.ts";

const UNCHANGED: Clean = { id: (id) => id, name: (name) => name, entry: (entry) => entry, files: (files) => files };

/** Entries in the tables of an import; unchanged if `clean` is absent. */
export function rowsOf(entries: readonly TranscriptEntry[], clean: Clean = UNCHANGED): RowSink {
  const rows = new RowSink("claude-code", clean, () => false);
  for (const entry of entries) putEntry(rows, entry);
  return rows;
}
