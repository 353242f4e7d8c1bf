import { createHash } from "node:crypto";
import type { SpanId, TraceId } from "../model/telemetry.ts";

/** What a span represents; part of its id. */
export type SpanSubject = "session" | "turn" | "subagent" | "model_call" | "tool_call";

/**
 * Trace id of one session segment, or of one turn if each turn is a trace. The same input always gives the same id, on every
 * machine.
 */
export const traceIdOf = (source: string, sessionId: string, part: string): TraceId =>
  digest("trace", source, sessionId, part).slice(0, 32) as TraceId;

/** Span id of a part of a session; `key` is the agent's id of that part. */
export const spanIdOf = (source: string, sessionId: string, subject: SpanSubject, key: string): SpanId =>
  digest("span", source, sessionId, subject, key).slice(0, 16) as SpanId;

// --- internal ---

const digest = (...parts: readonly string[]): string =>
  createHash("sha256")
    .update(JSON.stringify(["openhook-otel/1", ...parts]))
    .digest("hex");
