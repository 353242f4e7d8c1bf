import { notePriceError } from "../drain/contain.ts";
import type { Drain } from "../drain/context.ts";
import { CALL_NUMBERS, type Packed, type PackedUsage } from "../model/packed.ts";
import type { Writable } from "../model/writable.ts";
import { costsOfTokens, takePriceError } from "../telemetry/cost.ts";
import type { Totals } from "../telemetry/totals.ts";
import type { Unpriced } from "./unpriced.ts";

/** Adds the prices of its calls to a packed session's sums. */
export function priced(unpriced: Unpriced, provider: string | undefined): Packed {
  const { calls, providers, segments, usage, ...rest } = unpriced;
  const rows = usage.map((row): Writable<PackedUsage> => [...row]);
  const totals = segments.map((one): Writable<Totals> => ({ ...one.totals }));
  const costs = costsOfCalls(unpriced, provider);
  for (const [i, cost] of costs.entries()) {
    if (!Number.isNaN(cost))
      addCost(cost, rows[calls[i * CALL_NUMBERS] ?? 0], totals[calls[i * CALL_NUMBERS + 1] ?? -1]);
  }
  return {
    ...rest,
    usage: rows,
    segments: segments.map(({ segment }, i) => ({ segment, totals: JSON.stringify(totals[i]) })),
  };
}

/** `priced` for a stored session. If prices cannot be calculated, the reason is stored for `status` and `doctor`. */
export function pricedInStore(drain: Drain, session: number, unpriced: Unpriced, provider: string | undefined): Packed {
  takePriceError();
  const packed = priced(unpriced, provider);
  notePriceError(drain, session, takePriceError());
  return packed;
}

// --- internal ---

/** NaN for a call without a known price. */
function costsOfCalls({ calls, providers, usage }: Unpriced, provider: string | undefined): Float64Array {
  const costs = new Float64Array(calls.length / CALL_NUMBERS);
  const prices = new Map<number, ReturnType<typeof costsOfTokens>>();
  for (let i = 0, at = 0; i < costs.length; i++, at += CALL_NUMBERS) {
    const [place = 0, by = 0] = [calls[at], calls[at + 2]];
    const key = place * providers.length + by;
    let costOf = prices.get(key);
    if (costOf === undefined) {
      costOf = costsOfTokens(usage[place]?.[1] ?? undefined, providers[by] ?? provider);
      prices.set(key, costOf);
    }
    const tokens = {
      input: calls[at + 3] ?? 0,
      output: calls[at + 4] ?? 0,
      cacheRead: known(calls[at + 5]),
      cacheWrite: known(calls[at + 6]),
      cacheWrite1h: known(calls[at + 7]),
    };
    costs[i] = costOf(tokens, calls[at + 8] ?? 0) ?? Number.NaN;
  }
  return costs;
}

function addCost(cost: number, row: Writable<PackedUsage> | undefined, sums: Writable<Totals> | undefined): void {
  if (row !== undefined) {
    row[6]--;
    row[15] = (row[15] ?? 0) + cost;
  }
  if (sums === undefined) return;
  sums.costNanoUsd += cost;
  sums.pricedCalls++;
  sums.unpricedCalls--;
}

const known = (tokens: number | undefined): number | undefined =>
  tokens === undefined || tokens < 0 ? undefined : tokens;
