import type { SessionFacts } from "../model/session.ts";
import type { SpanRecord } from "../model/telemetry.ts";
import { type SpanSubject, spanIdOf, worldIdOf } from "./ids.ts";
import * as semconv from "./semconv.ts";
import { given, type Loose } from "./span-attributes.ts";

/** A span record with its permanent key: it is stored and sent once. */
export interface KeyedSpan {
  readonly key: string;
  /** The parts of the key: what the span represents, and its id or name. */
  readonly subject: SpanSubject;
  readonly name: string;
  readonly record: SpanRecord;
  /** Other spans have everything that it has: it is left out unless content is added. */
  readonly isOptional?: true;
}

/** The key of a span; `key` is the agent's id of the part that it represents. */
export const spanKeyOf = ({ source, sessionId }: SessionFacts, subject: SpanSubject, key: string): string =>
  JSON.stringify([source, sessionId, subject, key]);

/** What differs between spans. */
interface Shape {
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: "internal" | "client";
  readonly startMs: number;
  readonly endMs: number;
  readonly error: string | undefined;
  readonly links?: SpanRecord["links"];
  readonly events?: SpanRecord["events"];
  readonly attributes: Loose;
}

/** A span of a session; `key` is the id of what it represents. */
export function span(facts: SessionFacts, subject: SpanSubject, key: string, traceId: string, shape: Shape): KeyedSpan {
  const { source, sessionId } = facts;
  return {
    key: spanKeyOf(facts, subject, key),
    subject,
    name: key,
    record: {
      traceId,
      spanId: spanIdOf(facts, subject, key),
      ...(shape.parentSpanId !== undefined && { parentSpanId: shape.parentSpanId }),
      name: shape.name,
      kind: shape.kind,
      startMs: shape.startMs,
      endMs: Math.max(shape.startMs, shape.endMs),
      status: shape.error === undefined ? { code: "unset" } : { code: "error" },
      attributes: given({
        ...shape.attributes,
        [semconv.GEN_AI_CONVERSATION_ID]: sessionId,
        [semconv.SESSION_ID]: worldIdOf(facts),
        [semconv.ERROR_TYPE]: shape.error,
      }),
      links: [...(shape.links ?? [])],
      events: [...(shape.events ?? [])],
      resource: given({ [semconv.SERVICE_NAME]: source, [semconv.SERVICE_VERSION]: facts.agentVersion }),
    },
  };
}
