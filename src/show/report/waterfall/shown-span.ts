import type { AttributeValue, SpanRecord } from "#core/model/telemetry.ts";
import * as semconv from "#core/telemetry/semconv.ts";

/** A span to draw; `open`: it has not ended yet. */
export interface ShownSpan {
  readonly record: SpanRecord;
  /** Ordinal of its segment. */
  readonly segment: number;
  readonly open?: boolean;
}

export const numberAt = ({ attributes }: SpanRecord, name: string): number | undefined => {
  const value: AttributeValue | undefined = attributes[name];
  return typeof value === "number" ? value : undefined;
};

export const textAt = ({ attributes }: SpanRecord, name: string): string | undefined => {
  const value: AttributeValue | undefined = attributes[name];
  return typeof value === "string" ? value : undefined;
};

/** `session`, `turn`, `model_call`, …; `undefined` for spans that are not ours. */
export const spanKindOf = (record: SpanRecord): string | undefined => textAt(record, semconv.OPENHOOK_SPAN_KIND);

/** Never before the start, though some agents report that. */
export const endMsOf = (record: SpanRecord): number => Math.max(record.startMs, record.endMs);

/** A turn that a prompt started, typed or sent by a program; other turns continue one or belong to the agent. */
export const isPrompted = (record: SpanRecord): boolean => {
  const origin = textAt(record, semconv.OPENHOOK_TURN_ORIGIN);
  return origin === "human" || origin === "machine";
};
