import type { CallFigures } from "../usage-facts.ts";
import type { Scale, Unit } from "./resample.ts";
import type { SessionFigures } from "./session-figures.ts";

/** A figure by which two groups of sessions are compared. */
export interface Measure {
  readonly name: string;
  readonly title: string;
  /** The title in the table, which has room for 18 columns. @default title */
  readonly short?: string;
  /** A share is compared by its difference, everything else as a ratio. */
  readonly unit: "nano_usd" | "ms" | "calls" | "share";
  /** Which direction is better; absent: neither. */
  readonly better?: "less" | "more";
  /** It is known of single calls, so sessions with several models count for each of them. */
  readonly isOfCalls?: true;
  /** What a session adds. @param calls those of the group's model, otherwise all @returns `undefined`: nothing, or unknown */
  readonly of: (session: SessionFigures, calls: CallFigures) => Unit | undefined;
  /** `costs 38% less per turn`, for the sentence. @param by `38%`, `12 points` */
  readonly phrase: (by: string, isMore: boolean) => string;
}

/** Every measure, in the order in which they are shown. */
export const MEASURES: readonly Measure[] = [
  {
    name: "cost_per_turn",
    title: "cost per turn",
    unit: "nano_usd",
    better: "less",
    of: (session, calls) => perTurn(session, isPriced(session) ? calls.costNanoUsd : undefined),
    phrase: (by, isMore) => `costs ${by} ${isMore ? "more" : "less"} per turn`,
  },
  {
    name: "work_ms_per_turn",
    title: "time at work per turn",
    short: "work time per turn",
    unit: "ms",
    better: "less",
    of: (session) => perTurn(session, session.workMs),
    phrase: (by, isMore) => `works ${by} ${isMore ? "longer" : "shorter"} per turn`,
  },
  {
    name: "model_calls_per_turn",
    title: "model calls per turn",
    short: "calls per turn",
    unit: "calls",
    of: (session, calls) =>
      perTurn(session, session.isUsageUnknown || calls.aggregateRecords > 0 ? undefined : calls.modelCalls),
    phrase: (by, isMore) => `makes ${by} ${isMore ? "more" : "fewer"} model calls per turn`,
  },
  {
    name: "tool_failure_share",
    title: "failed tool calls",
    unit: "share",
    better: "less",
    of: ({ tools }) => unit(tools.errors, tools.calls),
    phrase: (by, isMore) => `has a share of failed tool calls ${by} ${isMore ? "higher" : "lower"}`,
  },
  {
    name: "failed_turn_share",
    title: "failed or interrupted turns",
    short: "failed turns",
    unit: "share",
    better: "less",
    of: ({ turns }) => unit(turns.failed + turns.interrupted, turns.turns),
    phrase: (by, isMore) => `has a share of failed or interrupted turns ${by} ${isMore ? "higher" : "lower"}`,
  },
  {
    name: "cache_read_share",
    title: "input read from the cache",
    short: "cached input",
    unit: "share",
    better: "more",
    isOfCalls: true,
    of: (_, { cacheReportedInput, cacheReportedRead = 0 }) => unit(cacheReportedRead, cacheReportedInput),
    phrase: (by, isMore) => `reads a share of its input from the cache that is ${by} ${isMore ? "higher" : "lower"}`,
  },
  {
    name: "cost_per_merged_change",
    title: "cost per merged change",
    short: "cost/merged change",
    unit: "nano_usd",
    better: "less",
    of: (session, { costNanoUsd }) =>
      session.merged === undefined || costNanoUsd === undefined || !isPriced(session)
        ? undefined
        : { x: costNanoUsd, y: session.merged },
    phrase: (by, isMore) => `costs ${by} ${isMore ? "more" : "less"} per merged change`,
  },
  {
    name: "kept_line_share",
    title: "lines kept after 7 days",
    short: "lines kept 7 days",
    unit: "share",
    better: "more",
    of: ({ kept }) => unit(kept?.kept, kept?.written),
    phrase: (by, isMore) => `has a share of kept lines ${by} ${isMore ? "higher" : "lower"}`,
  },
];

export const scaleOf = ({ unit }: Measure): Scale => (unit === "share" ? "share" : "ratio");

/** Whether the cost of all calls of a session is known. */
export const isPriced = ({ isUsageUnknown, calls }: SessionFigures): boolean =>
  !isUsageUnknown && calls.unpricedCalls === 0;

// --- internal ---

const unit = (x: number | undefined, y: number | undefined): Unit | undefined =>
  x === undefined || !y ? undefined : { x, y };

const perTurn = ({ turns }: SessionFigures, x: number | undefined): Unit | undefined => unit(x, turns.turns);
