import type { Database } from "#store/database.ts";
import { insights } from "../../report/insights/insights.ts";
import { insightsJson } from "../../report/insights/insights-json.ts";
import type { ViewDeps } from "../deps.ts";
import { type FiguresDeps, type FiguresQuery, firstMs } from "./figures.ts";

/** What costs money again and again, and what to change: the same as `insights --json`. */
export function insightsOver(
  db: Database,
  deps: FiguresDeps & Pick<ViewDeps, "settings" | "servers" | "subscriptions">,
  { nowMs, ...query }: Omit<FiguresQuery, "model" | "timeZone">,
) {
  const { agents, settings, servers, subscriptions } = deps;
  const { sinceMs = firstMs(db) ?? nowMs, untilMs = nowMs } = query;
  return {
    kind: "insights" as const,
    ...insightsJson(
      insights(
        db,
        { agents, settings, servers, ...(subscriptions && { subscriptions: subscriptions() }) },
        { ...query, sinceMs, untilMs: Math.min(untilMs, nowMs) },
      ),
      MAX_INSIGHTS,
    ),
    choices: deps.filterValues(db).choices,
  };
}

// --- internal ---

const MAX_INSIGHTS = 10;
