import type { Session, SessionContext, SessionFacts, Subagent } from "../model/session.ts";
import type { SpanParents, SpanRecord } from "../model/telemetry.ts";
import { type SpanSubject, spanIdOf, traceIdOf } from "./ids.ts";
import { spanKeyOf } from "./make-span.ts";
import * as semconv from "./semconv.ts";
import { type SpanParent, turnSpanIds } from "./span-parents.ts";

type Known = NonNullable<ReturnType<SpanParents["find"]>>;

/**
 * All spans that can be parents of a session's new spans. It depends on neither the size of the session nor what was pruned: new spans
 * are below spans of this build, or of settled turns that its facts refer to.
 */
export function knownParents(
  session: Session,
  { turns }: Pick<SessionContext, "turns">,
  facts: SessionFacts,
  scope: "session" | "turn",
  parentOf: (subagent: Subagent) => SpanParent,
): SpanParents {
  const rootOf = (segment: number) => ({
    traceId: traceIdOf(facts, `segment:${segment}`),
    spanId: spanIdOf(facts, "session", String(segment)),
  });
  let spans: Map<string, Known> | undefined;
  const known = (): Map<string, Known> => {
    const map = new Map<string, Known>();
    const add = (subject: SpanSubject, key: string | undefined, comesIn?: string): void => {
      if (key === undefined) return;
      const id = spanIdOf(facts, subject, key);
      const trace = comesIn ?? map.get(id)?.comesIn;
      map.set(id, { key: spanKeyOf(facts, subject, key), ...(trace !== undefined && { comesIn: trace }) });
    };
    for (const { span } of turns.values()) add("turn", span?.key);
    // Calls that started subagents; those of open runs are queued with the run
    const starts = new Set(session.subagents.flatMap(({ parentCallId }) => parentCallId ?? []));
    for (const id of starts) add("tool_call", id);
    for (const run of [...session.turns, ...session.subagents]) {
      const isTurn = "origin" in run;
      const trace = run.closed ? undefined : (isTurn ? turnSpanIds(run, facts, scope) : parentOf(run)).traceId;
      add(isTurn ? "turn" : "subagent", run.exportedKey);
      add(isTurn ? "turn" : "subagent", run.key, run.exportedKey === undefined ? trace : undefined);
      for (const { callId } of run.toolCalls) if (starts.has(callId)) add("tool_call", callId, trace);
    }
    return map;
  };
  const segments = new Set(session.segments.map(({ ordinal }) => ordinal));
  return {
    find(spanId, segment) {
      const root = rootOf(segment);
      // Its root span is exported when it ends
      if (spanId === root.spanId && segments.has(segment))
        return { key: spanKeyOf(facts, "session", String(segment)), comesIn: root.traceId };
      spans ??= known();
      return spans.get(spanId);
    },
    adopt({ parentSpanId: _, ...record }, segment): SpanRecord {
      const root = rootOf(segment);
      if (record.traceId === root.traceId) return { ...record, parentSpanId: root.spanId };
      // In a trace of a turn it becomes a root, as a turn's span is. Calls get no link: the team's gateway drops calls with links
      const isRun = ["turn", "subagent"].includes(String(record.attributes[semconv.OPENHOOK_SPAN_KIND]));
      return { ...record, links: isRun ? [{ ...root, attributes: { [semconv.OPENHOOK_LINK_KIND]: "session" } }] : [] };
    },
  };
}
