import type { TranscriptEntry } from "#core/model/transcript.ts";
import { decodeTables, encodeTables } from "#core/packed/fact-columns.ts";
import { CALL, type FactTables } from "#core/packed/fact-tables.ts";
import { withoutDuplicateAnswers } from "#core/rules/duplicate-answers.ts";
import { putEntry } from "#core/rules/put-facts.ts";
import { buildPacked } from "#core/session/build.ts";
import { segmentTotals } from "#core/telemetry/totals.ts";
import { coveredMs } from "#kit/numbers.ts";
import type { Clean } from "./clean-entries.ts";
import { recordDigests } from "./digest-set.ts";
import { sumsOf } from "./packed-sums.ts";
import type { PackOptions, Unpriced } from "./price.ts";
import { RowSink } from "./row-sink.ts";
import { sumsOfRows } from "./row-sums.ts";

/**
 * Packs a whole session as one value, with its sums.
 *
 * @param rows its facts, each key once, without facts about the session as a whole
 */
export function packRows(rows: RowSink, options: PackOptions): Unpriced {
  const tables = rows.tables();
  const changes = rows.changes();
  const found = changes.length > 0 ? { changes } : {};
  const sums = hasCopies(tables) ? undefined : sumsOfRows(tables, options);
  if (sums !== undefined) return { facts: encodeTables(tables), owned: rows.owned(), ...sums, ...found };
  return { ...pack(withoutDuplicateAnswers(decodeTables(encodeTables(tables))), options), ...found };
}

/** Packs a session that is built from entries like any other session. */
export function pack(entries: readonly TranscriptEntry[], options: PackOptions): Unpriced {
  const { facts, expectsTranscript, reported } = options;
  const session = buildPacked(facts, entries, expectsTranscript);
  const rows = new RowSink(facts.source, UNCHANGED, () => false);
  for (const entry of entries) putEntry(rows, entry);
  return {
    facts: encodeTables(rows.tables()),
    owned: recordDigests(facts.source, entries),
    segments: session.segments.map((segment) => ({
      segment,
      totals: {
        ...segmentTotals(session, segment, () => ({}), reported),
        workMs: coveredMs([...session.turns, ...session.subagents].filter((run) => run.segment === segment.ordinal)),
      },
    })),
    ...sumsOf(session, options.boundaries),
  };
}

// --- internal ---

/** Stored facts are clean already. */
const UNCHANGED: Clean = { id: (id) => id, name: (name) => name, entry: (entry) => entry, files: (files) => files };

/** Whether an answer is in a subagent's file and in the main one, so that one of them may be a copy. */
function hasCopies({ tables }: FactTables): boolean {
  const { data, stride, rows } = tables.model_call;
  const answers = new Set<number>();
  let hasSubagents = false;
  for (let at = 0; at < rows * stride; at += stride) {
    if (!Number.isNaN(data[at + CALL.agentId])) hasSubagents = true;
    else answers.add(answerAt(data, at));
  }
  if (!hasSubagents) return false;
  for (let at = 0; at < rows * stride; at += stride) {
    if (!Number.isNaN(data[at + CALL.agentId]) && answers.has(answerAt(data, at))) return true;
  }
  return false;
}

function answerAt(data: Float64Array, at: number): number {
  const id = data[at + CALL.responseId] ?? Number.NaN;
  return Number.isNaN(id) ? (data[at + CALL.besideResponseId] ?? Number.NaN) : id;
}
