import { maxOf, minOf, sumKnown } from "#kit/numbers.ts";
import { defined } from "#kit/objects.ts";
import type { CallSums, ModelCall, PricedCall } from "../model/model-call.ts";
import type { Price } from "../model/price-list.ts";
import type { ReportedUsage, Run, Segment, Session } from "../model/session.ts";
import { sumOfCalls } from "../rules/call-sums.ts";

/** Sums over runs, with the cost of their calls. Tokens are those of calls with known usage. */
export interface Totals {
  readonly turns: number;
  readonly subagents: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
  /** As the figures below, absent if no call reports any. */
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Calls whose input and output are known. */
  readonly callsWithUsage: number;
  readonly incompleteCalls: number;
  readonly costNanoUsd: number;
  readonly pricedCalls: number;
  /** Calls whose cost is unknown or a lower bound. */
  readonly unpricedCalls: number;
  readonly compactions: number;
  /** Absent if there is no run. */
  readonly firstMs?: number;
  readonly lastMs?: number;
  readonly reported?: ReportedUsage;
  /** Time in which a turn or subagent ran. Only of imported sessions. */
  readonly workMs?: number;
}

export const NO_TOTALS: Totals = {
  turns: 0,
  subagents: 0,
  modelCalls: 0,
  toolCalls: 0,
  callsWithUsage: 0,
  incompleteCalls: 0,
  costNanoUsd: 0,
  pricedCalls: 0,
  unpricedCalls: 0,
  compactions: 0,
};

type Prices = (call: ModelCall) => Price;

/** Sums of the given runs, without what was settled before; the caller counts turns and subagents. */
export function totalOf(runs: readonly Run[], prices: Prices): Totals {
  const calls = runs.flatMap((run) => run.modelCalls);
  return {
    ...totalOfCalls(calls.map((call) => ({ call, ...prices(call) }))),
    toolCalls: sum(runs.map((run) => run.toolCalls.length)),
    ...(runs.length > 0 && {
      firstMs: minOf(runs.map((r) => r.startMs)),
      lastMs: maxOf(runs.map((r) => r.endMs)),
    }),
  };
}

/** Sums of one run, including what was settled while it was open. */
export function totalOfRun(run: Run, prices: Prices): Totals {
  const rest = totalOf([run], prices);
  const { settled } = run;
  return settled === undefined ? rest : addTotals(rest, { ...totalsOf(settled.sums), toolCalls: settled.toolCalls });
}

/** Sums over calls in the form of totals. */
export function totalsOf(sums: CallSums): Totals {
  const all = sums.modelCalls + sums.aggregateRecords;
  return {
    ...NO_TOTALS,
    modelCalls: sums.modelCalls,
    ...knownTokens([sums]),
    callsWithUsage: all - sums.callsWithoutUsage,
    incompleteCalls: sums.incompleteCalls,
    costNanoUsd: sums.costNanoUsd ?? 0,
    pricedCalls: all - sums.unpricedCalls,
    unpricedCalls: sums.unpricedCalls,
  };
}

/** Adds two sums. Sums that the agent reports are cumulative, so the later one replaces the earlier. */
export function addTotals(first: Totals, second: Totals): Totals {
  const [a, b] = [withoutZeros(first), withoutZeros(second)];
  const numbers = Object.fromEntries(NUMBERS.map((name) => [name, a[name] + b[name]])) as Pick<Totals, Summed>;
  const firsts = [a.firstMs, b.firstMs].filter((ms) => ms !== undefined);
  const lasts = [a.lastMs, b.lastMs].filter((ms) => ms !== undefined);
  const reported = b.reported ?? a.reported;
  return {
    ...numbers,
    ...knownTokens([a, b]),
    ...(firsts.length > 0 && { firstMs: Math.min(...firsts) }),
    ...(lasts.length > 0 && { lastMs: Math.max(...lasts) }),
    ...(reported !== undefined && { reported }),
  };
}

/**
 * Replaces a call in sums by its revised version. `firstMs` and `lastMs` do not change.
 *
 * @param totals absent: the result is only the difference, `undefined` if neither tokens nor cost differ
 */
export function reviseTotals(totals: Totals | undefined, before: PricedCall, after: PricedCall): Totals | undefined {
  const difference = addTotals(totalOfCalls([after]), negative(totalOfCalls([before])));
  if (totals !== undefined) return addTotals(totals, difference);
  return difference.costNanoUsd !== 0 || SUMMED_TOKENS.some((kind) => (difference[kind] ?? 0) !== 0)
    ? difference
    : undefined;
}

/** What a session's closed runs, and the finished parts of open ones, add to one of its segments. */
export function segmentTotals(
  {
    turns,
    subagents,
    finishedParts,
    compactions,
  }: Pick<Session, "turns" | "subagents" | "finishedParts" | "compactions">,
  segment: Segment,
  prices: Prices,
  reported: ReportedUsage | undefined,
): Totals {
  const here = <T extends { readonly segment: number; readonly closed: boolean }>(runs: readonly T[]): readonly T[] =>
    runs.filter((run) => run.closed && run.segment === segment.ordinal);
  const [closedTurns, closedSubagents] = [here(turns), here(subagents)];
  const parts = finishedParts.filter((part) => part.segment === segment.ordinal);
  return {
    ...totalOf([...closedTurns, ...closedSubagents, ...parts], prices),
    turns: closedTurns.filter((t) => t.origin === "human" || t.origin === "machine").length,
    subagents: closedSubagents.filter((s) => s.key === s.agentId).length,
    compactions: compactions.filter(
      (c) => c.timeMs >= segment.startMs && c.timeMs <= (segment.endMs ?? Number.POSITIVE_INFINITY),
    ).length,
    ...(reported !== undefined && { reported }),
  };
}

/** The known cost; `undefined`: nothing of it is known. */
export const knownCost = ({ costNanoUsd, pricedCalls }: Totals): number | undefined =>
  // A difference to calls that were counted before has a cost and no call
  pricedCalls > 0 || costNanoUsd !== 0 ? costNanoUsd : undefined;

// --- internal ---

const totalOfCalls = (calls: readonly PricedCall[]): Totals => totalsOf(sumOfCalls(calls));

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

const negative = (totals: Totals): Totals => ({
  ...(Object.fromEntries(NUMBERS.map((name) => [name, -totals[name]])) as Pick<Totals, Summed>),
  ...defined<Tokens>(
    Object.fromEntries(SUMMED_TOKENS.map((kind) => [kind, minus(totals[kind])])) as Record<keyof Tokens, number>,
  ),
});

const minus = (value: number | undefined): number | undefined => (value === undefined ? undefined : -value);

/** The members that every sum has and that simply add up. */
type Summed = Exclude<keyof Totals, keyof Tokens | "firstMs" | "lastMs" | "reported" | "workMs">;
const NUMBERS = Object.keys(NO_TOTALS) as readonly Summed[];

const SUMMED_TOKENS = ["input", "output", "cacheRead", "cacheWrite"] as const;

/** What a price that became known later adds: the difference of two equal token counts is 0, but it is not over any call. */
function withoutZeros(totals: Totals): Totals {
  const { input, output, ...others } = totals;
  return totals.callsWithUsage === 0 && input === 0 && output === 0 ? others : totals;
}

type Tokens = Pick<Totals, (typeof SUMMED_TOKENS)[number]>;

const knownTokens = (parts: readonly { readonly [K in keyof Tokens]: number | undefined }[]): Tokens =>
  defined<Tokens>(
    Object.fromEntries(SUMMED_TOKENS.map((kind) => [kind, sumKnown(parts.map((part) => part[kind]))])) as Tokens,
  );
