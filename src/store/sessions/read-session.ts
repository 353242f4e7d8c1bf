import type { Agent } from "#core/model/agent.ts";
import type { SessionFacts } from "#core/model/session.ts";
import { cardOf, knownCardOf } from "#core/rules/cards.ts";
import { spanKeyOf } from "#core/telemetry/make-span.ts";
import type { SettledParents } from "#core/telemetry/span-parents.ts";
import type { Database } from "../database.ts";
import { hasUnread } from "../failures.ts";
import { hasReadTranscript, readShapes } from "../positions.ts";
import { wasUsed } from "../queries.ts";
import type { StoredSession } from "../sessions.ts";
import { traceOfSpan } from "../spans.ts";

/** What reading a session needs: the store and the agents. */
export interface SessionSource {
  readonly db: Database;
  readonly agents: readonly Agent[];
}

/**
 * Facts that are the same for all parts of a session. The transcript's branch is preferred, because `.git` may have changed
 * since.
 */
export function sessionFactsOf(deps: Pick<SessionSource, "agents">, stored: StoredSession): SessionFacts {
  const card = cardOf(deps, stored.source);
  const provider = card?.provider;
  const branch = stored.branch ?? stored.repository?.branch;
  return {
    source: stored.source,
    sessionId: stored.sessionId,
    ...(stored.identity !== undefined && { identity: stored.identity }),
    ...(provider !== undefined && { provider }),
    ...(card?.tokens !== "transcript" && card?.callsModels !== false && { usageUnknown: true as const }),
    // Sources without a card send OpenHook envelopes, which have no such event
    ...(card?.emits.includes("turn.end") !== true && { reportsNoTurnEnds: true as const }),
    ...(card?.endsBeforeSubagents === true && { endsBeforeSubagents: true as const }),
    ...(card !== undefined && endsSilently(card) && { endsSilently: true as const }),
    ...(card?.writesAfterTools === true && { writesAfterTools: true as const }),
    ...(card?.hooksNameAgents !== undefined && { hooksNameAgents: card.hooksNameAgents }),
    ...(stored.agentVersion !== undefined && { agentVersion: stored.agentVersion }),
    ...(stored.repository !== undefined && {
      repository: { ...stored.repository, ...(branch !== undefined && { branch }) },
    }),
  };
}

/**
 * The session's facts, with whether its usage is known. Tokens are unknown, not zero, if the agent does not report them, or if no
 * transcript was read although the session names one or was used.
 */
export function knownFactsOf(db: Database, deps: Pick<SessionSource, "agents">, stored: StoredSession): SessionFacts {
  const facts = sessionFactsOf(deps, stored);
  const card = knownCardOf(deps, stored.source);
  if (card === undefined) {
    const { usageUnknown: _, ...known } = facts;
    return readShapes(db, stored.id).length > 0 ? known : facts;
  }
  const isUnread = card.tokens === "transcript" && !hasReadTranscript(db, stored.id);
  return isUnread && (wasUsed(db, stored.id) || hasUnread(db, stored.id)) ? { ...facts, usageUnknown: true } : facts;
}

/** Whether the session's token usage comes from a transcript that we can read. */
export const expectsTranscript = ({ db, ...deps }: SessionSource, stored: StoredSession): boolean => {
  const card = knownCardOf(deps, stored.source);
  if (card === undefined) return readShapes(db, stored.id).length > 0;
  return card.tokens === "transcript" && card.transcript !== undefined;
};

/** Looks up the trace of a settled tool call's span, for `subagentParents`. */
export const settledTraces =
  (db: Database, facts: SessionFacts): SettledParents["traceOfCall"] =>
  (callId) =>
    traceOfSpan(db, spanKeyOf(facts, "tool_call", callId));

// --- internal ---

const endsSilently = (card: Agent): boolean => card.endsSilently ?? !card.emits.includes("session.end");
