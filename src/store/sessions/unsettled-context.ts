import type { Event } from "#core/model/event-schema.ts";
import type { SessionContext, SessionFacts, SettledSubagent, SettledTurn } from "#core/model/session.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { timeMsOf } from "#core/rules/event.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { withLatePrompts } from "#core/session/prompts.ts";
import { runCountKey } from "#core/telemetry/metrics.ts";
import type { Database } from "../database.ts";
import type { openFacts } from "../facts.ts";
import { hasPrunedFacts, isPrunedFact } from "../pruned-facts.ts";
import { processesOf } from "../session-processes.ts";
import { settledContext } from "../settled-context.ts";

/** The settled parts of the session that its unsettled facts may refer to. */
export function unsettledContext(
  db: Database,
  sessionNumber: number,
  facts: SessionFacts,
  { events, entries }: ReturnType<typeof openFacts>,
): SessionContext {
  const settled = withPrunedParts(db, settledContext(db, sessionNumber, events, entries), facts, events, entries);
  const processes = processesOf(db, sessionNumber);
  return { ...withLatePrompts(settled, events, entries), ...(processes.length > 0 && { processes }) };
}

// --- internal ---

/**
 * Of a pruned session, only digests of counted facts are left. They show which turns and subagents were counted before. If one
 * of these continues, its new activity becomes a further part with a separate span, because the first span is never built
 * again.
 *
 * @param events unsettled events
 * @param entries unsettled entries
 * @returns the context itself if there are no such turns or subagents
 */
function withPrunedParts(
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
  /** Number of parts of a turn or subagent that were counted. */
  const partsOf = (kind: "turn" | "subagent", key: string): number => {
    const isCounted = (part: string) => isPrunedFact(db, "increment", runCountKey(facts, kind, part));
    let parts = 0;
    while (isCounted(parts === 0 ? key : `${key}~${parts}`)) parts++;
    return parts;
  };
  const addTurn = (key: string | undefined, ms: number): void => {
    if (key === undefined || context.turns.has(key) || turns.has(key)) return;
    const parts = partsOf("turn", key);
    // The turn's outcome was deleted with the session
    if (parts > 0) turns.set(key, { segment, state: "unfinished", startMs: ms, endMs: ms, parts, hasHook: true });
  };
  const addSubagent = (id: string | undefined): void => {
    if (id === undefined || context.subagents.has(id) || subagents.has(id)) return;
    const parts = partsOf("subagent", id);
    if (parts > 0) subagents.set(id, { segment, parts });
  };
  addTurn("none", Number.POSITIVE_INFINITY);
  for (const event of [...events].sort((a, b) => timeMsOf(a) - timeMsOf(b))) {
    addTurn(extrasOf(event).prompt_id, timeMsOf(event));
    addSubagent(extrasOf(event).agent_id);
  }
  for (const entry of [...entries].sort((a, b) => a.timeMs - b.timeMs)) {
    addTurn(entry.promptKey, entry.timeMs);
    addSubagent(entry.agentId);
  }
  if (turns.size + subagents.size === 0) return context;
  return {
    ...context,
    turns: new Map([...context.turns, ...turns]),
    subagents: new Map([...context.subagents, ...subagents]),
  };
}
