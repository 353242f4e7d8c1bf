import { sumKnown } from "#kit/numbers.ts";
import type { Dimension } from "../query.ts";
import type { UsageRow } from "../usage-row.ts";

/** What the bars of a usage table show. */
export type Measure = "cost" | "tokens" | "tools";

export const MEASURES: Readonly<Record<Measure, (row: UsageRow) => number | undefined>> = {
  cost: ({ calls }) => calls?.costNanoUsd,
  tokens: ({ calls }) => sumKnown([calls?.input, calls?.output]),
  tools: ({ tools }) => tools?.calls,
};
/** The column that holds the measure. */
export const TITLES: Readonly<Record<Measure, string>> = { cost: "cost", tokens: "in", tools: "calls" };

/** Cost; tokens where most calls have no known price; calls for tools. */
export function measureOf(by: readonly Dimension[], rows: readonly UsageRow[]): Measure {
  if (by.includes("tool")) return "tools";
  const sum = (figureOf: (row: UsageRow) => number): number => rows.reduce((n, row) => n + figureOf(row), 0);
  const calls = sum((row) => row.calls?.modelCalls ?? 0);
  return calls > 0 && sum((row) => row.calls?.unpricedCalls ?? 0) * 2 > calls ? "tokens" : "cost";
}

/** One line of the usage table. */
export interface UsageLine {
  readonly row: UsageRow;
  /** Number of empty lines that this line replaces. */
  readonly skipped?: number;
  readonly keys: readonly string[];
  readonly isTotal: boolean;
}
