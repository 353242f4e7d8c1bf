import type { Packed, PackedUsage } from "../model/packed.ts";
import { costOfTokens } from "../telemetry/cost.ts";
import { CALL_NUMBERS, type Unpriced } from "./pack.ts";

/** A packed session with the prices of its calls, each added where the call is counted. */
export function priced({ calls, providers, segments, usage, ...rest }: Unpriced, provider: string | undefined): Packed {
  const rows = usage.map((row): Writable<PackedUsage> => [...row]);
  const totals = segments.map((one) => ({ ...one.totals }));
  for (let at = 0; at < calls.length; at += CALL_NUMBERS) {
    const [place = 0, segment = -1, by = 0, input = 0, output = 0, read = -1, write = -1, write1h = -1, endMs = 0] =
      calls.subarray(at, at + CALL_NUMBERS);
    const row = rows[place];
    const cost = costOfTokens(
      row?.[1] ?? undefined,
      { input, output, cacheRead: told(read), cacheWrite: told(write), cacheWrite1h: told(write1h) },
      providers[by] ?? provider,
      endMs,
    );
    if (cost === undefined || row === undefined) continue;
    row[6]--;
    row[15] = (row[15] ?? 0) + cost;
    const sums = totals[segment];
    if (sums === undefined) continue;
    totals[segment] = {
      ...sums,
      costNanoUsd: sums.costNanoUsd + cost,
      pricedCalls: sums.pricedCalls + 1,
      unpricedCalls: sums.unpricedCalls - 1,
    };
  }
  return {
    ...rest,
    usage: rows,
    segments: segments.map(({ segment }, i) => ({ segment, totals: JSON.stringify(totals[i]) })),
  };
}

// --- internal ---

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const told = (tokens: number): number | undefined => (tokens < 0 ? undefined : tokens);
