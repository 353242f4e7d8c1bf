import { CALL_NUMBERS, HAS_FEES, IS_SUM, type Packed, type PackedUsage } from "#core/model/packed.ts";
import type { NoPrice, Price } from "#core/model/price-list.ts";
import type { SessionFacts } from "#core/model/session.ts";
import { TOKEN_KINDS } from "#core/model/token-kinds.ts";
import { pricesOfModel, takePriceError } from "#core/telemetry/cost.ts";
import type { Totals } from "#core/telemetry/totals.ts";
import type { Writable } from "#kit/objects.ts";
import { notePriceError } from "../drain/contain.ts";
import type { Drain } from "../drain/context.ts";

/** Sums of a packed session as they are stored. */
export type KnownSums = readonly PackedUsage[];

/**
 * Adds the prices of its calls to a packed session's sums.
 *
 * @param before its sums as they were stored: a cost that was known stays as long as the calls are the same
 */
function priced(unpriced: Unpriced, provider: string | undefined, before: KnownSums = []): Packed {
  const { calls, sellers, segments, usage, ...rest } = unpriced;
  const rows = usage.map((row): Writable<PackedUsage> => ({ ...row }));
  const totals = segments.map((one): Writable<Totals> => ({ ...one.totals }));
  const prices = pricesOfCalls(unpriced, provider);
  const known = new Map(before.map((row) => [keyOf(row), row]));
  for (const [place, ofRow] of callsByRow(unpriced)) {
    const row = rows[place];
    if (row === undefined) continue;
    const before = known.get(keyOf(row));
    if (before !== undefined) keepPrices(before, ofRow, unpriced, prices);
    addPrices(row, ofRow, unpriced, prices);
    for (const call of ofRow) {
      addToTotals(totals[numberAt(calls, call, 1)], prices[call] as Price, numberAt(calls, call, 11));
    }
  }
  return {
    ...rest,
    usage: rows,
    segments: segments.map(({ segment }, i) => ({ segment, totals: JSON.stringify(totals[i]) })),
  };
}

/** `priced` for a stored session. If prices cannot be calculated, the reason is stored for `status` and `doctor`. */
export function pricedInStore(
  drain: Drain,
  session: number,
  unpriced: Unpriced,
  provider: string | undefined,
  before: KnownSums = [],
): Packed {
  takePriceError();
  const packed = priced(unpriced, provider, before);
  notePriceError(drain, session, takePriceError());
  return packed;
}

/** What packing a session needs besides its facts. */
export interface PackOptions {
  readonly facts: SessionFacts;
  /** Its agent writes tokens into transcripts. */
  readonly expectsTranscript: boolean;
  /** Sums reported by the agent. */
  readonly reported: Totals["reported"];
  /** Times of its commits and changes, ascending: sums are divided there, so that each has its own part of them. */
  readonly boundaries: readonly number[];
}

/** A packed session without prices: the price table is loaded in the main thread only. */
export interface Unpriced extends Omit<Packed, "segments"> {
  readonly segments: readonly { readonly segment: Packed["segments"][number]["segment"]; readonly totals: Totals }[];
  /** Calls that may have a price, `CALL_NUMBERS` numbers each; -1: unknown. */
  readonly calls: Float64Array;
  /** Providers and service tiers that calls refer to; `null`: the agent's own, the standard one. */
  readonly sellers: readonly (readonly [provider: string | null, tier: string | null])[];
}

// --- internal ---

const numberAt = (calls: Float64Array, call: number, at: number): number => calls[call * CALL_NUMBERS + at] ?? 0;

/** Two sums with the same key are of the same calls. */
const keyOf = ({ timeMs, model, subagent, calls, aggregateRecords, withoutUsage, tokens }: PackedUsage): string =>
  JSON.stringify([
    timeMs,
    model,
    subagent,
    calls,
    aggregateRecords,
    withoutUsage,
    COMPARED.map((kind) => tokens[kind]),
  ]);

const COMPARED = (["input", "output", "cacheRead", "cacheWrite"] as const).map((kind) => TOKEN_KINDS.indexOf(kind));

function callsByRow({ calls }: Unpriced): ReadonlyMap<number, readonly number[]> {
  const byRow = new Map<number, number[]>();
  for (let call = 0; call * CALL_NUMBERS < calls.length; call++) {
    const place = numberAt(calls, call, 0);
    const ofRow = byRow.get(place);
    if (ofRow === undefined) byRow.set(place, [call]);
    else ofRow.push(call);
  }
  return byRow;
}

function pricesOfCalls({ calls, sellers, usage }: Unpriced, provider: string | undefined): Price[] {
  const lists = new Map<number, ReturnType<typeof pricesOfModel>>();
  return Array.from({ length: calls.length / CALL_NUMBERS }, (_, call) => {
    const at = (number: number): number => numberAt(calls, call, number);
    const [place, by] = [at(0), at(2)];
    const [ofCall = null, tier = null] = sellers[by] ?? [];
    const key = place * sellers.length + by;
    let list = lists.get(key);
    if (list === undefined) {
      list = pricesOfModel(usage[place]?.model ?? undefined, ofCall ?? provider);
      lists.set(key, list);
    }
    return list(
      {
        input: at(3),
        output: at(4),
        cacheRead: known(at(5)),
        cacheWrite: known(at(6)),
        cacheWrite1h: known(at(7)),
        webSearches: at(9),
        hasOtherFees: (at(10) & HAS_FEES) === 0 ? undefined : true,
        isSum: (at(10) & IS_SUM) === 0 ? undefined : true,
        tier: tier ?? undefined,
      },
      at(8),
    );
  });
}

/** Replaces the prices of calls that had one in an earlier sum of the same calls. */
function keepPrices(before: PackedUsage, ofRow: readonly number[], { calls }: Unpriced, prices: Price[]): void {
  const { costNanoUsd: cost, unpricedCalls } = before;
  if (cost === null) return;
  const withoutPrice = JSON.parse(unpricedCalls ?? "[]") as readonly number[];
  const ends = new Set(withoutPrice.filter((_, i) => i % 2 === 0));
  // Only the sum of the known ones is stored, and only it is needed: the first one has it
  let costNanoUsd = withoutPrice.reduce((rest, partial, i) => (i % 2 === 0 ? rest : rest - partial), cost);
  for (const call of ofRow) {
    if (ends.has(numberAt(calls, call, 8))) continue;
    const { feeNanoUsd } = prices[call] ?? {};
    prices[call] = { costNanoUsd, ...(feeNanoUsd !== undefined && { feeNanoUsd }) };
    costNanoUsd = 0;
  }
}

function addPrices(
  row: Writable<PackedUsage>,
  ofRow: readonly number[],
  { calls }: Unpriced,
  prices: readonly Price[],
): void {
  const reasons = new Map<NoPrice, number>();
  const withoutPrice: number[] = [];
  for (const call of ofRow) {
    const { costNanoUsd, noPrice, feeNanoUsd } = prices[call] as Price;
    if (feeNanoUsd !== undefined) {
      row.feeNanoUsd = (row.feeNanoUsd ?? 0) + feeNanoUsd;
      if (row.unpricedSearches !== null) row.unpricedSearches -= numberAt(calls, call, 9);
    }
    if (costNanoUsd !== undefined) row.costNanoUsd = (row.costNanoUsd ?? 0) + costNanoUsd;
    if (noPrice === undefined) row.unpriced -= numberAt(calls, call, 11);
    else {
      reasons.set(noPrice, (reasons.get(noPrice) ?? 0) + 1);
      withoutPrice.push(numberAt(calls, call, 8), costNanoUsd ?? 0);
    }
  }
  row.noPrice = [...reasons].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? null;
  if (withoutPrice.length > 0 && row.costNanoUsd !== null) row.unpricedCalls = JSON.stringify(withoutPrice);
}

function addToTotals(sums: Writable<Totals> | undefined, { costNanoUsd, noPrice }: Price, calls: number): void {
  if (sums === undefined) return;
  sums.costNanoUsd += costNanoUsd ?? 0;
  if (noPrice !== undefined) return;
  sums.pricedCalls += calls;
  sums.unpricedCalls -= calls;
}

const known = (tokens: number): number | undefined => (tokens < 0 ? undefined : tokens);
