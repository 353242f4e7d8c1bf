import { cardOf } from "#core/rules/cards.ts";
import { spanIdOf } from "#core/telemetry/ids.ts";
import { usd } from "#kit/text/figures.ts";
import { knownFactsOf, type SessionSource } from "#store/sessions/read-session.ts";
import type { StoredSession } from "#store/sessions.ts";
import { hasUsage, lowerBounds } from "../../report/call-totals.ts";
import { descendants, familyOf } from "../../report/family.ts";
import { sessionName } from "../../report/session-json.ts";
import type { SessionSummary } from "../../report/session-summary.ts";

/** The sessions above and below, as the page shows them. Names of tools are left out: they may be the user's own. */
export function familyRows(source: SessionSource, own: SessionSummary) {
  const { parent, children, withChildren } = familyOf(source, own);
  const callSpan = (session: StoredSession, callId: string | undefined): string | null =>
    callId === undefined ? null : spanIdOf(knownFactsOf(source.db, source, session), "tool_call", callId);
  const name = (session: StoredSession) => ({
    ...sessionName(session),
    agent: cardOf(source, session.source)?.title ?? session.source,
  });
  return {
    /** `span`: the tool call that started this session; `null`: unknown. */
    parent:
      parent === undefined ? null : { ...name(parent.launcher), span: callSpan(parent.launcher, parent.call?.callId) },
    /** Each after the one that started it. `span`: the call of this session that started it; `null`: unknown, or another session did. */
    children: [...descendants(children)].map(({ child: { summary, call }, depth }) => ({
      ...name(summary.stored),
      depth,
      span: depth > 0 ? null : callSpan(own.stored, call?.callId),
      ...costOf(summary.sums, !hasUsage(summary.sums) && summary.facts.usageUnknown === true),
    })),
    withChildren: withChildren === undefined ? null : costOf(withChildren.sums, withChildren.withoutUsage > 0),
  };
}

// --- internal ---

const costOf = (sums: SessionSummary["sums"], isUsageUnknown: boolean) => ({
  cost_usd: usd(sums.costNanoUsd ?? (hasUsage(sums) || isUsageUnknown ? undefined : 0)),
  costIsLowerBound: lowerBounds(sums, isUsageUnknown).costIsLowerBound,
});
