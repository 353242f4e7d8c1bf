import type { LaunchingCall } from "../model/launch.ts";
import type { SessionFacts } from "../model/session.ts";
import type { SpanRecord } from "../model/telemetry.ts";
import { spanIdOf, traceIdOf, worldIdOf } from "./ids.ts";
import * as semconv from "./semconv.ts";
import type { Loose } from "./span-attributes.ts";

/** The session that started another one, as the root span of that one says it. */
export interface LaunchedBy {
  readonly facts: SessionFacts;
  /** The segment of the call, or the one in which the session was started. */
  readonly segment: number;
  /** Absent: unknown. With the trace of its span, if that is known. */
  readonly call?: Pick<LaunchingCall, "callId"> & { readonly traceId: string | undefined };
}

/** A link to the span of the tool call, or to the root span of the segment. It is another trace: the two sessions end at different times. */
export function launchLinks({ facts, segment, call }: LaunchedBy): SpanRecord["links"] {
  const attributes = { [semconv.OPENHOOK_LINK_KIND]: "started_by" };
  return call?.traceId === undefined
    ? [
        {
          traceId: traceIdOf(facts, `segment:${segment}`),
          spanId: spanIdOf(facts, "session", String(segment)),
          attributes,
        },
      ]
    : [{ traceId: call.traceId, spanId: spanIdOf(facts, "tool_call", call.callId), attributes }];
}

export const launchAttributes = ({ facts, call }: LaunchedBy): Loose => ({
  [semconv.OPENHOOK_PARENT_AGENT]: facts.source,
  [semconv.OPENHOOK_PARENT_SESSION]: worldIdOf(facts),
  [semconv.OPENHOOK_PARENT_CALL]: call?.callId,
});
