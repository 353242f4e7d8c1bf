import type { Session, SessionFacts, Subagent, Turn } from "../model/session.ts";
import type { SpanRecord } from "../model/telemetry.ts";
import { spanIdOf, traceIdOf } from "./ids.ts";
import * as semconv from "./semconv.ts";

/** A span's trace and its parent, which is always in the same trace. */
export interface SpanParent {
  readonly traceId: string;
  readonly parentSpanId: string;
  /** To the call that started it, if that is in another trace. */
  readonly links: SpanRecord["links"];
}

/** Looks up turns and tool calls that are already settled. */
export interface SettledParents {
  /** The spans of the turn with this key, the latest first: their keys and segments. Empty if there is no such turn. */
  readonly turnsOf: (key: string) => readonly { readonly key: string; readonly segment: number }[];
  /** Trace of a settled tool call's span; `undefined` if it is no longer known. */
  readonly traceOfCall: (callId: string) => string | undefined;
}

/** The ids of a turn's span: its trace, its parent, its own id (the parent of its calls), and its links. */
export function turnSpanIds(turn: Turn, facts: SessionFacts, scope: "session" | "turn") {
  const rootId = spanIdOf(facts, "session", String(turn.segment));
  const sessionTrace = traceOfSegment(facts, turn.segment);
  const noLinks: SpanRecord["links"] = [];
  if (turn.origin === "none" || turn.isLate)
    return { traceId: sessionTrace, parentSpanId: rootId, ownSpanId: rootId, links: noLinks };
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
 * The parent of each subagent's span: the call that started it. If no record names that call, or it is in the trace of another
 * segment: the turn, otherwise the session. With a trace per turn, the subagent is in that call's trace, whatever its turn is.
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
  const traceOfCall = (callId: string, depth: number): string | undefined => {
    const run = depth > MAX_DEPTH ? undefined : runOf.get(callId);
    if (run === undefined) return settled.traceOfCall(callId);
    if ("origin" in run) return turnSpanIds(run, facts, scope).traceId;
    return scope === "session" ? traceOfSegment(facts, run.segment) : parentOf(run, depth + 1).traceId;
  };
  const parentOf = ({ parentCallId: callId, turnKey, segment }: Subagent, depth = 0): SpanParent => {
    const own = traceOfSegment(facts, segment);
    const isHere = (traceId: string): boolean => scope === "turn" || traceId === own;
    const callTrace = callId === undefined ? undefined : traceOfCall(callId, depth);
    const call =
      callId === undefined || callTrace === undefined
        ? undefined
        : { traceId: callTrace, spanId: spanIdOf(facts, "tool_call", callId) };
    if (call !== undefined && isHere(call.traceId))
      return { traceId: call.traceId, parentSpanId: call.spanId, links: [] };
    const turn = (turnKey === undefined || turnKey === NO_PROMPT ? [] : settled.turnsOf(turnKey))
      .map(({ key, segment: ofTurn }) => ({
        traceId: scope === "session" ? traceOfSegment(facts, ofTurn) : traceIdOf(facts, `turn:${key}`),
        spanId: spanIdOf(facts, "turn", key),
      }))
      .find(({ traceId }) => isHere(traceId));
    const { traceId, spanId } = turn ?? { traceId: own, spanId: spanIdOf(facts, "session", String(segment)) };
    const links = call === undefined ? [] : [{ ...call, attributes: { [semconv.OPENHOOK_LINK_KIND]: "started_by" } }];
    return { traceId, parentSpanId: spanId, links };
  };
  return (subagent) => parentOf(subagent);
}

// --- internal ---

const NO_PROMPT = "none";
/** Limit for subagents that, in a damaged transcript, name each other's calls as their start. */
const MAX_DEPTH = 32;

const traceOfSegment = (facts: SessionFacts, segment: number): string => traceIdOf(facts, `segment:${segment}`);
