import { costSource } from "#core/telemetry/cost.ts";
import { isoTime, usd } from "#kit/text/figures.ts";
import { missTitle } from "../findings-cache.ts";
import type { InsightReport, RatedInsight } from "./insights.ts";
import { evidenceText, trendText } from "./words.ts";

/** The report as a JSON document, the same for `insights --json` and the page. Unknown is `null`, never 0. */
export const insightsJson = (report: InsightReport, limit: number) => ({
  since: isoTime(report.range.sinceMs),
  until: isoTime(report.range.untilMs),
  /** The period before, with which it is compared; `null`: it has too few sessions. */
  compared_since: isoTime(report.before?.sinceMs),
  price_table: costSource().prices,
  sessions: report.sessions,
  /** Of how many sessions the calls were read; the dearest ones. */
  sessions_read: report.readSessions,
  read_cost_usd: usd(report.readNanoUsd),
  total_cost_usd: usd(report.total.costNanoUsd),
  cost_is_lower_bound: report.total.unpricedCalls + report.total.incompleteCalls > 0,
  subscription_agents: report.subscribed.map(({ agent }) => agent),
  insights: report.insights.slice(0, limit).map(insightJson),
  left_out: Math.max(0, report.insights.length - limit),
  gone: report.gone.map(insightJson),
  cache_misses: report.misses.map(({ costNanoUsd, unpricedCalls, ...sum }) => ({
    ...sum,
    title: missTitle(sum.cause),
    cost_usd: usd(costNanoUsd),
    unpriced_calls: unpricedCalls,
  })),
});

// --- internal ---

const MAX_EXAMPLES = 3;

const insightJson = ({ tally, share, shareBefore, trend, ...insight }: RatedInsight) => ({
  ...insight,
  calls: tally.calls,
  sessions: tally.sessions,
  tokens: tally.tokens === 0 ? null : tally.tokens,
  cost_usd: usd(tally.costNanoUsd),
  cost_is_lower_bound: tally.unpricedCalls > 0,
  /** Of the cost of everything, now and in the period before. */
  share: share ?? null,
  share_before: shareBefore ?? null,
  trend: trend ?? null,
  trend_text: trendText(trend, share, shareBefore),
  evidence_text: evidenceText(insight.evidence),
  /** The sessions with most of it, and in each the call that cost most. */
  examples: tally.examples(MAX_EXAMPLES).map(({ session: { view }, calls, costNanoUsd, turn, startMs }) => ({
    source: view.stored.source,
    session: view.stored.sessionId,
    calls,
    cost_usd: usd(costNanoUsd),
    turn: turn === 0 ? null : turn,
    start: isoTime(startMs),
  })),
});
