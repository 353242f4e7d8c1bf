import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { type Column, UNIT } from "./panels.ts";
import { exactSum, LABEL, type LabelKey, quantile, ratio, sumBy } from "./promql.ts";
import { of } from "./select.ts";

/** Figures of several dashboards, each computed in one way. */
export const measure = {
  /** Percentile of a duration, for a column of a table. @param bucket of the histogram with this name */
  percentile: (
    q: number,
    metric: string,
    bucket: string,
    by: readonly LabelKey[],
  ): Pick<Column, "expr" | "unit" | "decimals" | "highest"> => {
    const highest = METRIC_SHAPES.get(metric)?.bounds?.at(-1);
    return {
      expr: `${quantile(q, bucket, by)} >= 0`,
      unit: UNIT.seconds,
      decimals: 2,
      ...(highest !== undefined && { highest }),
    };
  },
  /**
   * Share of the input tokens that came from a cache; cached tokens are part of the input tokens. Input of agents and models
   * that do not report cache reads is left out, because it may or may not have been cached.
   */
  cacheHit: (by: readonly LabelKey[] = [], range?: string): string => {
    const apart = [...new Set<LabelKey>([...by, "agent", "model"])];
    const read = exactSum(of.tokens("cache_read"), apart, range);
    const input = exactSum(of.tokens("input"), apart, range);
    return ratio(sumBy(by, read), `(${sumBy(by, `${input} and ${read}`)})`);
  },
  /** Input tokens that were neither read from a cache nor written to one. */
  freshInput: (by: readonly LabelKey[] = [], range?: string): string => {
    const input = exactSum(of.tokens("input"), by, range);
    const [read, written] = ["cache_read", "cache_write"].map((kind) => exactSum(of.tokens(kind), by, range));
    return `${input} - ${orZero(read ?? "", input)} - ${orZero(written ?? "", input)}`;
  },
  /** All tokens of each interval by disjoint kinds, so that a chart can stack them. */
  tokensByKind: () => [
    { expr: exactSum(of.tokens("cache_read"), [], "$__interval"), legend: "input, from cache" },
    { expr: exactSum(of.tokens("cache_write"), [], "$__interval"), legend: "input, written to cache" },
    { expr: measure.freshInput([], "$__interval"), legend: "input, not cached" },
    { expr: exactSum(of.tokens("output"), [], "$__interval"), legend: "output" },
  ],
  /** Successful calls as a share of those whose end is known. */
  toolSuccess: (by: readonly LabelKey[] = [], range?: string): string => {
    const ran = exactSum(of.tools(RAN), by, range);
    return ratio(orZero(exactSum(of.tools(status("success")), by, range), ran), ran);
  },
  toolErrors: (by: readonly LabelKey[] = [], range?: string): string => {
    const ran = exactSum(of.tools(RAN), by, range);
    return ratio(orZero(exactSum(of.tools(status("error")), by, range), ran), ran);
  },
  toolsWith: (state: "success" | "error" | "denied" | "unfinished", by: readonly LabelKey[] = []): string => {
    const one = exactSum(of.tools(status(state)), by);
    return orZero(one, exactSum(of.tools(), by));
  },
} as const;

/** 0 if there is a whole but no part; no value if there is no whole. */
export const orZero = (part: string, whole: string): string => `(${part} or 0 * ${whole})`;

// --- internal ---

const status = (state: string): string => `${LABEL.toolStatus}="${state}"`;
const RAN = `${LABEL.toolStatus}=~"success|error"`;
