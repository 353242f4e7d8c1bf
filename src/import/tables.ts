import { defined } from "../model/defined.ts";
import { encodeTables } from "../model/fact-columns.ts";
import type { FactTables } from "../model/fact-tables.ts";
import { ENDED_IDLE } from "../model/session.ts";
import { NO_TOTALS, type Totals } from "../telemetry/totals.ts";
import type { PackOptions, Unpriced } from "./pack.lazy.ts";
import { recordDigests } from "./record-digests.ts";

/**
 * The same as `pack` of the facts in tables, without making any of them an object: for sessions of prompts, answers and tools,
 * as nearly all are.
 *
 * @returns `undefined` for a session that holds anything that decides how a turn went, or belongs to no prompt: those are built
 */
export function packTables(tables: FactTables, { facts, reported }: PackOptions): Unpriced | undefined {
  if (tables.sums === undefined || facts.endsSilently === true) return undefined;
  const { usage, calls, tools, turns, startMs, endMs, totals } = tables.sums;
  return {
    facts: encodeTables(tables),
    owned: ownedOf(tables, facts.source),
    segments: [
      {
        segment: { ordinal: 0, startMs, lastActivityMs: endMs, uses: [], endMs, ...ENDED_IDLE },
        totals: defined<Totals>({
          ...NO_TOTALS,
          ...totals,
          cacheRead: usage.some((row) => row[10] !== null) ? totals.cacheRead : undefined,
          cacheWrite: usage.some((row) => row[11] !== null) ? totals.cacheWrite : undefined,
          unpricedCalls: totals.modelCalls,
          reported,
        }),
      },
    ],
    usage,
    tools,
    turns,
    calls,
    providers: calls.length === 0 ? [] : [null],
  };
}

/** Times of the first and last record. */
export const spanOf = ({ firstMs, lastMs, others }: FactTables): { firstMs: number; lastMs: number } => ({
  firstMs: others.reduce((first, { timeMs }) => Math.min(first, timeMs), firstMs),
  lastMs: others.reduce((last, { timeMs }) => Math.max(last, timeMs), lastMs),
});

// --- internal ---

/** Digests of the tables' keys, and of those that stand beside them. */
function ownedOf({ owned, others }: FactTables, source: string): Float64Array {
  const more = recordDigests(source, others);
  const all = new Float64Array(owned.length + more.length);
  all.set(owned);
  all.set(more, owned.length);
  return all;
}
