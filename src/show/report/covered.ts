import { planOf, plansInUse } from "#core/rules/plans.ts";
import { dollars, leastDollars, usd } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import type { Database } from "#store/database.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import { lowerBounds } from "./call-totals.ts";
import type { UsageQuery } from "./query.ts";
import { usageByGroupings } from "./usage.ts";
import { addFigures, type CallFigures, NOTHING } from "./usage-facts.ts";

/** What work that a plan covers would have cost at list price. */
export interface Covered {
  readonly plan: string;
  readonly calls: CallFigures;
}

/** By plan, in the order of their names; none if no plan is set. */
export function coveredBy(
  db: Database,
  deps: Pick<SessionSource, "agents">,
  query: Omit<UsageQuery, "by">,
): readonly Covered[] {
  const plans = plansInUse();
  if (plans === undefined) return [];
  const [rows = []] = usageByGroupings(db, deps, { ...query, home: plans.home, costOnly: true }, [
    ["agent", "model", "config-folder"],
  ]);
  const sums = new Map<string, CallFigures>();
  for (const { key, calls = NOTHING } of rows) {
    const { agent, model = null, "config-folder": configFolder } = key;
    const plan = agent == null ? undefined : planOf(plans, { agent, model, configFolder });
    if (plan !== undefined) sums.set(plan, addFigures(sums.get(plan) ?? NOTHING, calls));
  }
  return [...sums].map(([plan, calls]) => ({ plan, calls })).sort((a, b) => (a.plan < b.plan ? -1 : 1));
}

/** One sentence for each plan. */
export const coveredNotes = (covered: readonly Covered[]): readonly string[] =>
  covered.map(({ plan, calls }) => {
    const { costNanoUsd } = calls;
    const worth = costNanoUsd === undefined ? "?" : (isLeast(calls) ? leastDollars : dollars)(costNanoUsd);
    return `worth ${worth} at list price, covered by plan ${printable(plan)}: not in budgets and forecasts`;
  });

/** The same in `--json`. */
export const coveredJson = ({ plan, calls }: Covered) => ({
  plan,
  list_price_usd: usd(calls.costNanoUsd),
  is_lower_bound: isLeast(calls),
});

// --- internal ---

const isLeast = (calls: CallFigures): boolean => lowerBounds(calls, false).costIsLowerBound;
