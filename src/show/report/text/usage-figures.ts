import { type Failures, standsOut } from "#kit/text/failure-share.ts";
import { count, dollars, duration, leastDollars, percentOf } from "#kit/text/figures.ts";
import type { Column } from "#kit/text/table.ts";
import { hasUsage } from "../call-totals.ts";
import type { Dimension } from "../dimensions.ts";
import type { UsageRow } from "../usage-row.ts";
import type { Measure, UsageLine } from "./usage-measure.ts";

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
  if (by.includes("tool")) {
    return [
      figure("calls", 12, ({ tools }) => number(tools?.calls)),
      { ...figure("failed", 10, ({ tools }) => number(tools?.errors)), style: red },
      { ...figure("share", 9, failedShare), style: red },
      figure("denied", 6, ({ tools }) => number(tools?.denied)),
      figure("no end", 4, ({ tools }) => number((tools?.unfinished ?? 0) + (tools?.open ?? 0))),
      figure("time", 8, ({ tools }) => duration(tools?.toolMs ?? 0)),
      figure("mean", 7, ({ tools }) => (tools?.calls ? duration(tools.toolMs / tools.calls) : "")),
      ...sessions,
    ];
  }
  const cost = figure("cost", measure === "cost" ? 12 : 10, costText);
  const tokens = [
    figure("in", measure === "tokens" ? 12 : 9, inputText),
    figure("cached", 6, cachedText),
    figure("out", 8, outputText),
  ];
  return [
    ...(measure === "cost" ? [cost, ...tokens] : [...tokens, cost]),
    figure("calls", 3, callsText),
    figure("turns", 7, ({ turns }) => number(turns?.turns)),
    figure("tools", 5, ({ tools }) => number(tools?.calls)),
    { ...figure("failed", 4, failedShare), style: red },
    ...sessions,
  ];
}

/** Failed tool calls of a row. */
export const failuresOf = ({ tools }: UsageRow): Failures => ({ failed: tools?.errors ?? 0, calls: tools?.calls ?? 0 });

// --- internal ---

const number = (n: number | undefined): string => (n === undefined ? "" : count(n));

type Known = NonNullable<UsageRow["calls"]>;
/** Empty if nothing was used, `?` if usage is unknown: these two must differ. */
const unknown = (calls: Known, { sessionsWithoutUsage }: UsageRow): string =>
  hasUsage(calls) || sessionsWithoutUsage > 0 ? "?" : "";
const least = (isLeast: boolean): string => (isLeast ? "≥" : "");

function costText(row: UsageRow): string {
  const { calls, sessionsWithoutUsage } = row;
  if (calls === undefined) return "";
  if (calls.costNanoUsd === undefined) return unknown(calls, row);
  const isLeast = calls.unpricedCalls + calls.incompleteCalls + sessionsWithoutUsage > 0;
  return isLeast ? leastDollars(calls.costNanoUsd) : dollars(calls.costNanoUsd);
}

function inputText(row: UsageRow): string {
  const { calls, sessionsWithoutUsage } = row;
  if (calls === undefined) return "";
  if (calls.input === undefined) return unknown(calls, row);
  return `${least(calls.callsWithoutUsage + sessionsWithoutUsage > 0)}${count(calls.input)}`;
}

function outputText(row: UsageRow): string {
  const { calls, sessionsWithoutUsage } = row;
  if (calls === undefined) return "";
  if (calls.output === undefined) return unknown(calls, row);
  return `${least(calls.callsWithoutUsage + calls.incompleteCalls + sessionsWithoutUsage > 0)}${count(calls.output)}`;
}

function cachedText(row: UsageRow): string {
  const { calls } = row;
  if (calls === undefined) return "";
  if (!calls.cacheReportedInput) return calls.input ? "?" : "";
  return percentOf((calls.cacheReportedRead ?? 0) / calls.cacheReportedInput);
}

function callsText(row: UsageRow): string {
  const { calls } = row;
  if (calls === undefined) return "";
  const isLeast = calls.aggregateRecords > 0 || row.sessionsWithoutUsage > 0;
  if (calls.modelCalls > 0) return `${least(isLeast)}${count(calls.modelCalls)}`;
  return isLeast ? "?" : "";
}

/** Failed calls of all calls. */
function failedShare({ tools }: UsageRow): string {
  if (!tools?.calls) return "";
  return percentOf(tools.errors / tools.calls);
}
