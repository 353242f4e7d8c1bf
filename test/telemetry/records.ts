import type { Session, SessionFacts } from "#core/model/session.ts";
import { buildSession } from "#core/session/build.ts";
import { callPrices } from "#core/telemetry/cost.ts";
import type { KeyedSpan } from "#core/telemetry/make-span.ts";
import { subagentParents } from "#core/telemetry/span-parents.ts";
import { type SpanSettings, segmentSpan, subagentSpans, turnSpans } from "#core/telemetry/spans.ts";
import { totalOf } from "#core/telemetry/totals.ts";
import { inputOf, merged, type RecordedSession } from "../session/recorded.ts";

export const REPOSITORY = {
  name: "acme-shop",
  url: "https://git.example/acme/acme-shop.git",
  branch: "main",
  revision: "0123456789abcdef0123456789abcdef01234567",
};

/** A recorded session after it has ended. */
export function endedSession(recorded: RecordedSession): Session {
  const input = inputOf(recorded, { events: recorded.events, entries: merged(recorded.lines) });
  return buildSession({
    ...input,
    facts: { ...input.facts, agentVersion: "2.1.329", repository: REPOSITORY },
    endIdle: { reason: "timeout", nativeReason: "idle" },
  });
}

/** The parents of a session's subagents, if nothing was settled before. */
export const placesIn = (session: Session, facts: SessionFacts, scope: SpanSettings["traceScope"] = "session") =>
  subagentParents(session, facts, scope, {
    turnsOf: (key) => session.turns.filter((turn) => turn.key === key),
    traceOfCall: () => undefined,
  });

/** All spans of a session, as the drain builds them. */
export function spansOf(session: Session, settings: SpanSettings, facts: SessionFacts = session.facts): KeyedSpan[] {
  const { turns, subagents, segments } = session;
  const placeOf = placesIn(session, facts, settings.traceScope);
  return [
    ...turns.flatMap((turn) => [...turnSpans(turn, facts, settings)]),
    ...subagents.flatMap((subagent) => [...subagentSpans(subagent, placeOf(subagent), facts, settings)]),
    ...segments.map((segment) => {
      const runs = [...turns, ...subagents].filter((run) => run.segment === segment.ordinal);
      return segmentSpan(segment, totalOf(runs, callPrices(facts.provider)), facts);
    }),
  ];
}
