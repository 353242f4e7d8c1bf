import type { Packed, PackedUsage } from "../model/packed.ts";
import type { Writable } from "../model/writable.ts";
import { costsOfTokens } from "../telemetry/cost.ts";
import type { Totals } from "../telemetry/totals.ts";
import { CALL_NUMBERS, type Unpriced } from "./pack.ts";

/** A packed session with the prices of its calls, each added where the call is counted. */
export function priced({ calls, providers, segments, usage, ...rest }: Unpriced, provider: string | undefined): Packed {
  const rows = usage.map((row): Writable<PackedUsage> => [...row]);
  const totals = segments.map((one): Writable<Totals> => ({ ...one.totals }));
  const costs = new Map<number, ReturnType<typeof costsOfTokens>>();
  for (let at = 0; at < calls.length; at += CALL_NUMBERS) {
    const [place, segment, by] = [calls[at] ?? 0, calls[at + 1] ?? -1, calls[at + 2] ?? 0];
    const row = rows[place];
    const key = place * providers.length + by;
    let costOf = costs.get(key);
    if (costOf === undefined) {
      costOf = costsOfTokens(row?.[1] ?? undefined, providers[by] ?? provider);
      costs.set(key, costOf);
    }
    const tokens = {
      input: calls[at + 3] ?? 0,
      output: calls[at + 4] ?? 0,
      cacheRead: told(calls[at + 5]),
      cacheWrite: told(calls[at + 6]),
      cacheWrite1h: told(calls[at + 7]),
    };
    const cost = costOf(tokens, calls[at + 8] ?? 0);
    if (cost === undefined || row === undefined) continue;
    row[6]--;
    row[15] = (row[15] ?? 0) + cost;
    const sums = totals[segment];
    if (sums === undefined) continue;
    sums.costNanoUsd += cost;
    sums.pricedCalls++;
    sums.unpricedCalls--;
  }
  return {
    ...rest,
    usage: rows,
    segments: segments.map(({ segment }, i) => ({ segment, totals: JSON.stringify(totals[i]) })),
  };
}

// --- internal ---

const told = (tokens: number | undefined): number | undefined =>
  tokens === undefined || tokens < 0 ? undefined : tokens;
