import { type Event, extrasOf, timeMsOf } from "../model/event.ts";
import type { SessionContext, SessionFacts, SettledSubagent, SettledTurn } from "../model/session.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import type { Database } from "../store/database.ts";
import { hasPrunedFacts, isPrunedFact } from "../store/pruned-facts.ts";
import { runCountKey } from "../telemetry/metrics.ts";

/**
 * A pruned session leaves only digests of what was counted. Turns and subagents that continue are recognised by them: what they do
 * now is a further part with a span of its own, because the first part's span is not built again.
 *
 * @param events unsettled events
 * @param entries unsettled entries
 * @returns the context itself if there are no such turns or subagents
 */
export function withPrunedParts(
  db: Database,
  context: SessionContext,
  facts: SessionFacts,
  events: readonly Event[],
  entries: readonly TranscriptEntry[],
): SessionContext {
  if (!hasPrunedFacts(db)) return context;
  const segment = context.segment?.ordinal ?? 0;
  const turns = new Map<string, SettledTurn>();
  const subagents = new Map<string, SettledSubagent>();
  /** How many of its parts were counted. */
  const partsOf = (kind: "turn" | "subagent", key: string): number => {
    const isGone = (part: string) => isPrunedFact(db, "increment", runCountKey(facts, kind, part));
    let parts = 0;
    while (isGone(parts === 0 ? key : `${key}~${parts}`)) parts++;
    return parts;
  };
  const seeTurn = (key: string | undefined, ms: number): void => {
    if (key === undefined || context.turns.has(key) || turns.has(key)) return;
    const parts = partsOf("turn", key);
    // The outcome is not known any more
    if (parts > 0) turns.set(key, { segment, state: "unfinished", startMs: ms, endMs: ms, parts, hasHook: true });
  };
  const seeSubagent = (id: string | undefined): void => {
    if (id === undefined || context.subagents.has(id) || subagents.has(id)) return;
    const parts = partsOf("subagent", id);
    if (parts > 0) subagents.set(id, { segment, parts });
  };
  seeTurn("none", Number.POSITIVE_INFINITY);
  for (const event of [...events].sort((a, b) => timeMsOf(a) - timeMsOf(b))) {
    seeTurn(extrasOf(event).prompt_id, timeMsOf(event));
    seeSubagent(extrasOf(event).agent_id);
  }
  for (const entry of [...entries].sort((a, b) => a.timeMs - b.timeMs)) {
    seeTurn(entry.promptKey, entry.timeMs);
    seeSubagent(entry.agentId);
  }
  if (turns.size + subagents.size === 0) return context;
  return {
    ...context,
    turns: new Map([...context.turns, ...turns]),
    subagents: new Map([...context.subagents, ...subagents]),
  };
}
