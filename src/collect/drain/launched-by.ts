import { knownCardOf } from "#core/rules/cards.ts";
import { traceIdOf } from "#core/telemetry/ids.ts";
import type { LaunchedBy } from "#core/telemetry/launch-link.ts";
import { turnSpanIds } from "#core/telemetry/span-parents.ts";
import { segmentsOf } from "#store/segments.ts";
import { type LaunchCall, launchOf } from "#store/sessions/launch.ts";
import { sessionFactsOf, settledTraces } from "#store/sessions/read-session.ts";
import { spanSettings } from "#store/sessions/span-settings.ts";
import type { StoredSession } from "#store/sessions.ts";
import type { Drain } from "./context.ts";

/** The session that started another one, for the root span of that one; `undefined` if none did, or it is not certain which. */
export function launchedByOf(drain: Drain, launched: StoredSession): LaunchedBy | undefined {
  const { db } = drain;
  const launch = launchOf(drain, launched);
  if (launch === undefined) return undefined;
  const { launcher, call } = launch;
  const facts = sessionFactsOf(drain, launcher);
  if (call !== undefined && isFinal(drain, launcher, call))
    return { facts, segment: call.segment, call: { callId: call.callId, traceId: traceOf(drain, facts, call) } };
  const startMs = launched.launchedMs ?? launched.firstMs;
  const begun = segmentsOf(db, launcher.id).findLast(({ segment }) => segment.startMs <= startMs);
  return { facts, segment: begun?.segment.ordinal ?? 0 };
}

// --- internal ---

/** Until a call is settled, an id that we assigned can be replaced by the transcript's. */
const isFinal = (drain: Drain, { source }: StoredSession, { run }: LaunchCall): boolean =>
  run === undefined || knownCardOf(drain, source)?.capabilities.callIds === "native";

function traceOf(drain: Drain, facts: LaunchedBy["facts"], { callId, segment, run }: LaunchCall): string | undefined {
  if (run === undefined) return settledTraces(drain.db, facts)(callId);
  const { traceScope } = spanSettings(drain);
  if (traceScope === "session") return traceIdOf(facts, `segment:${segment}`);
  // A subagent's trace is not known before it is settled
  return "origin" in run ? turnSpanIds(run, facts, traceScope).traceId : undefined;
}
