import { createHash } from "node:crypto";
import type { SessionFacts } from "../model/session.ts";
import type { SpanId, TraceId } from "../model/telemetry.ts";

/** What a span represents; part of its id. */
export type SpanSubject = "session" | "turn" | "subagent" | "model_call" | "tool_call" | "native";

/** What the ids of a session's spans are derived from. */
type SessionIds = Pick<SessionFacts, "source" | "sessionId" | "identity">;

/** The session's id for other machines: two sessions never share it. */
export const worldIdOf = ({ sessionId, identity = sessionId }: Pick<SessionIds, "sessionId" | "identity">): string =>
  identity;

/**
 * Trace id of one session segment, or of one turn if each turn is a trace. The same input always gives the same id, on every
 * machine.
 */
export const traceIdOf = (session: SessionIds, part: string): TraceId =>
  digest("trace", session.source, worldIdOf(session), part).slice(0, 32) as TraceId;

/** Span id of a part of a session; `key` is the agent's id of that part. */
export const spanIdOf = (session: SessionIds, subject: SpanSubject, key: string): SpanId =>
  digest("span", session.source, worldIdOf(session), subject, key).slice(0, 16) as SpanId;

// --- internal ---

const digest = (...parts: readonly string[]): string =>
  createHash("sha256")
    .update(JSON.stringify(["openhook-otel/1", ...parts]))
    .digest("hex");
