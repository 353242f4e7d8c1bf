import { exactSum, LABEL, type LabelKey, ratio, sumBy } from "./promql.ts";
import { of } from "./select.ts";

/** Figures that several dashboards show, so that each is computed in one way. */
export const measure = {
  /**
   * Part of the input tokens that came from a cache: cached tokens are among the input tokens. Input of agents and models
   * that tell nothing of a cache is left out, since it is not known to have missed one.
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
  /** All tokens of each interval, by kinds of which none stands in another: a chart can pile them up. */
  tokensByKind: () => [
    { expr: exactSum(of.tokens("cache_read"), [], "$__interval"), legend: "input, from cache" },
    { expr: exactSum(of.tokens("cache_write"), [], "$__interval"), legend: "input, written to cache" },
    { expr: measure.freshInput([], "$__interval"), legend: "input, not cached" },
    { expr: exactSum(of.tokens("output"), [], "$__interval"), legend: "output" },
  ],
  /** Of calls whose end is known: those that worked. */
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

/** A count that is 0 where there is a whole and none of it; nothing where there is no whole. */
export const orZero = (part: string, whole: string): string => `(${part} or 0 * ${whole})`;

// --- internal ---

const status = (state: string): string => `${LABEL.toolStatus}="${state}"`;
const RAN = `${LABEL.toolStatus}=~"success|error"`;
