import type { Session, SessionFacts, Subagent, Turn } from "../model/session.ts";
import type { SpanRecord } from "../model/telemetry.ts";
import { spanIdOf, traceIdOf } from "./ids.ts";
import * as semconv from "./semconv.ts";

/** A span's trace and its parent, which is always in the same trace. */
export interface SpanParent {
  readonly traceId: string;
  /** Absent: the span is a root. */
  readonly parentSpanId: string | undefined;
}

/** Looks up turns and tool calls that are already settled. */
export interface SettledParents {
  /** The turn with this key: the key of its span and its segment. `undefined` if there is no such turn. */
  readonly turnOf: (key: string | undefined) => { readonly key: string; readonly segment: number } | undefined;
  /** Trace of a settled tool call's span; `undefined` if it is no longer known. */
  readonly traceOfCall: (callId: string) => string | undefined;
}

/** The ids of a turn's span: its trace, its parent, its own id (the parent of its calls), and its links. */
export function turnSpanIds(turn: Turn, facts: SessionFacts, scope: "session" | "turn") {
  const rootId = spanIdOf(facts, "session", String(turn.segment));
  const sessionTrace = traceOfSegment(facts, turn.segment);
  const noLinks: SpanRecord["links"] = [];
  if (turn.origin === "none") return { traceId: sessionTrace, parentSpanId: rootId, ownSpanId: rootId, links: noLinks };
  // The calls of a late part belong to the turn's span
  const ownSpanId = spanIdOf(facts, "turn", turn.exportedKey ?? turn.key);
  if (scope === "session") return { traceId: sessionTrace, parentSpanId: rootId, ownSpanId, links: noLinks };
  const links = [{ traceId: sessionTrace, spanId: rootId, attributes: { [semconv.OPENHOOK_LINK_KIND]: "session" } }];
  return {
    traceId: traceIdOf(facts, `turn:${turn.exportedKey ?? turn.key}`),
    parentSpanId: undefined,
    ownSpanId,
    links,
  };
}

/**
 * The parent of each subagent's span: the call that started it, in that call's trace, even if the subagent
 * belongs to another turn. If no record names such a call: its turn, otherwise its session.
 *
 * @param session the unsettled part
 */
export function subagentParents(
  { turns, subagents }: Pick<Session, "turns" | "subagents">,
  facts: SessionFacts,
  scope: "session" | "turn",
  settled: SettledParents,
): (subagent: Subagent) => SpanParent {
  const runOf = new Map<string, Turn | Subagent>(
    [...turns, ...subagents].flatMap((run) => run.toolCalls.map(({ callId }) => [callId, run] as const)),
  );
  const turnOf = ({ turnKey }: Subagent) => (turnKey === NO_PROMPT ? undefined : settled.turnOf(turnKey));
  const traceOf = (subagent: Subagent, depth = 0): string => {
    const { parentCallId: callId, segment } = subagent;
    if (scope === "session") return traceOfSegment(facts, segment);
    const run = callId === undefined || depth > MAX_DEPTH ? undefined : runOf.get(callId);
    if (run !== undefined) return "agentId" in run ? traceOf(run, depth + 1) : turnSpanIds(run, facts, scope).traceId;
    const known = callId === undefined ? undefined : settled.traceOfCall(callId);
    if (known !== undefined) return known;
    const turn = turnOf(subagent);
    return turn === undefined ? traceOfSegment(facts, segment) : traceIdOf(facts, `turn:${turn.key}`);
  };
  return (subagent) => {
    const { parentCallId: callId, segment } = subagent;
    const turn = turnOf(subagent);
    const parentSpanId =
      callId !== undefined
        ? spanIdOf(facts, "tool_call", callId)
        : turn !== undefined
          ? spanIdOf(facts, "turn", turn.key)
          : spanIdOf(facts, "session", String(segment));
    return { traceId: traceOf(subagent), parentSpanId };
  };
}

// --- internal ---

const NO_PROMPT = "none";
/** Limit for subagents that, in a damaged transcript, name each other's calls as their start. */
const MAX_DEPTH = 32;

const traceOfSegment = (facts: SessionFacts, segment: number): string => traceIdOf(facts, `segment:${segment}`);
