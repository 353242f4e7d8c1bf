import { sumKnown } from "#kit/numbers.ts";
import { type Failures, standsOut } from "#kit/text/failure-share.ts";
import { count, dollars, duration, leastDollars, percentOf } from "#kit/text/figures.ts";
import type { Column } from "#kit/text/table.ts";
import { printable } from "#kit/text/terminal.ts";
import { hasUsage, lowerBounds } from "../call-totals.ts";
import { type Dimension, isOfTools } from "../query.ts";
import type { UsageRow } from "../usage-rows.ts";

/** The figures of a usage table: tokens, cost and counts, or the figures of tools. */
export function figureColumns(
  by: readonly Dimension[],
  measure: Measure,
  usual: Failures,
): readonly Column<UsageLine>[] {
  const bold = ({ isTotal }: UsageLine) => (isTotal ? ("bold" as const) : undefined);
  const figure = (title: string, rank: number, text: (row: UsageRow) => string): Column<UsageLine> => ({
    title,
    rank,
    align: "right",
    cell: ({ row }) => text(row),
    style: bold,
  });
  const red: Column<UsageLine>["style"] = ({ row, isTotal }) =>
    isTotal ? "bold" : standsOut(failuresOf(row), usual) ? "red" : undefined;
  const sessions = by.includes("session")
    ? []
    : [figure("sessions", 2, (row) => (row.sessions === 0 ? "" : count(row.sessions)))];
  if (isOfTools({ by })) {
    return [
      figure("calls", 12, ({ tools, configured }) =>
        (tools ?? configured === undefined) ? number(tools?.calls) : "?",
      ),
      { ...figure("failed", 10, ({ tools }) => number(tools?.errors)), style: red },
      { ...figure("share", 9, failedShare), style: red },
      figure("denied", 6, ({ tools }) => number(tools?.denied)),
      figure("no end", 4, ({ tools }) => number((tools?.unfinished ?? 0) + (tools?.open ?? 0))),
      figure("time", 8, ({ tools }) => (tools?.calls ? duration(tools.toolMs) : "")),
      figure("mean", 7, ({ tools }) => (tools?.calls ? duration(tools.toolMs / tools.calls) : "")),
      figure("cost after", 5, ({ after }) => (after?.modelCalls ? costOf(after) : "")),
      { ...figure("configured", 3, configuredText), align: "left" },
      ...sessions,
    ];
  }
  const cost = figure("cost", measure === "cost" ? 12 : 10, costText);
  const tokens = [
    figure("in", measure === "tokens" ? 12 : 9, inputText),
    figure("cached", 6, cachedText),
    figure("out", 8, outputText),
  ];
  const runs = [
    figure("runs", 11, ({ runs }) => number(runs?.runs)),
    { ...figure("failed", 5, ({ runs }) => number(runs?.failedRuns)), style: red },
    figure("time", 7.5, ({ runs }) => duration(runs?.runMs ?? 0)),
    figure("mean", 5, ({ runs }) => (runs?.runs ? duration(runs.runMs / runs.runs) : "")),
  ];
  const rest = by.includes("subagent")
    ? by.includes("model")
      ? []
      : runs
    : [
        figure("turns", 7, ({ turns }) => number(turns?.turns)),
        figure("tools", 5, ({ tools }) => number(tools?.calls)),
        { ...figure("failed", 4, failedShare), style: red },
      ];
  return [
    ...(measure === "cost" ? [cost, ...tokens] : [...tokens, cost]),
    figure("calls", 3, callsText),
    ...rest,
    ...sessions,
  ];
}

/** Failed tool calls or runs of a row. */
export const failuresOf = ({ tools, runs }: UsageRow): Failures => ({
  failed: tools?.errors ?? runs?.failedRuns ?? 0,
  calls: tools?.calls ?? runs?.runs ?? 0,
});

/** What the bars of a usage table show. */
type Measure = "cost" | "tokens" | "tools";

export const MEASURES: Readonly<Record<Measure, (row: UsageRow) => number | undefined>> = {
  cost: ({ calls }) => calls?.costNanoUsd,
  tokens: ({ calls }) => sumKnown([calls?.input, calls?.output]),
  tools: ({ tools }) => tools?.calls,
};
/** The column that holds the measure. */
export const TITLES: Readonly<Record<Measure, string>> = { cost: "cost", tokens: "in", tools: "calls" };

/** Cost; tokens where most calls have no known price; calls for tools. */
export function measureOf(by: readonly Dimension[], rows: readonly UsageRow[]): Measure {
  if (isOfTools({ by })) return "tools";
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

// --- internal ---

/** The agents in whose settings a name is. */
const configuredText = ({ configured = [] }: UsageRow): string =>
  printable([...new Set(configured.map(({ agent }) => agent))].join(", "));

const number = (n: number | undefined): string => (n === undefined ? "" : count(n));

type Known = NonNullable<UsageRow["calls"]>;
const ofCalls =
  (textOf: (calls: Known, isUsageUnknown: boolean) => string) =>
  ({ calls, sessionsWithoutUsage }: UsageRow): string =>
    calls === undefined ? "" : textOf(calls, sessionsWithoutUsage > 0);

/** Empty if nothing was used, `?` if usage is unknown: these two must differ. */
const unknown = (calls: Known, isUsageUnknown: boolean): string => (hasUsage(calls) || isUsageUnknown ? "?" : "");
const least = (isLeast: boolean): string => (isLeast ? "≥" : "");

function costOf(calls: Known, isUsageUnknown = false): string {
  if (calls.costNanoUsd === undefined) return unknown(calls, isUsageUnknown);
  const { costIsLowerBound } = lowerBounds(calls, isUsageUnknown);
  return costIsLowerBound ? leastDollars(calls.costNanoUsd) : dollars(calls.costNanoUsd);
}

const costText = ofCalls(costOf);

const inputText = ofCalls((calls, isUsageUnknown) => {
  if (calls.input === undefined) return unknown(calls, isUsageUnknown);
  return `${least(lowerBounds(calls, isUsageUnknown).inputIsLowerBound)}${count(calls.input)}`;
});

const outputText = ofCalls((calls, isUsageUnknown) => {
  if (calls.output === undefined) return unknown(calls, isUsageUnknown);
  return `${least(lowerBounds(calls, isUsageUnknown).outputIsLowerBound)}${count(calls.output)}`;
});

const cachedText = ofCalls(({ input, cacheReportedInput, cacheReportedRead = 0 }) => {
  if (!cacheReportedInput) return input ? "?" : "";
  return percentOf(cacheReportedRead / cacheReportedInput);
});

const callsText = ofCalls(({ modelCalls, aggregateRecords }, isUsageUnknown) => {
  const isLeast = aggregateRecords > 0 || isUsageUnknown;
  if (modelCalls > 0) return `${least(isLeast)}${count(modelCalls)}`;
  return isLeast ? "?" : "";
});

/** Failed calls of all calls. */
function failedShare({ tools }: UsageRow): string {
  if (!tools?.calls) return "";
  return percentOf(tools.errors / tools.calls);
}
