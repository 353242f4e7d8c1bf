import { percentOf } from "#kit/text/amounts.ts";

/** What became of an insight since the period before. */
export type Trend = "new" | "better" | "worse" | "same" | "gone";

/** What became of an insight since the period before, in words; empty: unknown. @param share of the cost, now and before */
export function trendText(trend: Trend | undefined, share = 0, before = 0): string {
  if (trend === undefined) return "";
  if (trend === "new") return "new";
  return `${TRENDS[trend]}: ${percentOf(before)} of the cost before, ${percentOf(share)} now`;
}

/** How an insight is known. */
export const evidenceText = (evidence: "reported" | "derived"): string =>
  evidence === "reported" ? "reported by the agent or the provider" : "derived from the records";

// --- internal ---

const TRENDS: Readonly<Record<Exclude<Trend, "new">, string>> = {
  better: "better",
  worse: "worse",
  same: "as before",
  gone: "gone",
};
