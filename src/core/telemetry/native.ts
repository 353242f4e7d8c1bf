import { maxOf, minOf } from "#kit/numbers.ts";
import type { ModelCall } from "../model/model-call.ts";
import type { JoinedNative, NativeRecord } from "../model/native.ts";
import type { SessionFacts, ToolCall } from "../model/session.ts";
import type { Counted, Increment, MetricShape, SpanRecord } from "../model/telemetry.ts";
import { mergedNative, type NativeJoin, type NativePart } from "../session/native.ts";
import { type KeyedSpan, span } from "./make-span.ts";
import * as semconv from "./semconv.ts";
import { SHAPES } from "./shapes.ts";
import { given, type Loose } from "./span-attributes.ts";

/** What an agent's own telemetry adds to the attributes of a span. */
export const nativeAttributes = (native: JoinedNative | undefined): Loose =>
  native === undefined
    ? {}
    : {
        [semconv.GEN_AI_RESPONSE_FIRST_CHUNK]: inSeconds(native.firstTokenMs),
        [semconv.OPENHOOK_NATIVE.attempts]: native.attempts,
        [semconv.OPENHOOK_NATIVE.server]: native.serverMs,
        [semconv.OPENHOOK_NATIVE.refusal]: native.refusal,
        [semconv.OPENHOOK_REPORTED.costUsd]: native.costNanoUsd === undefined ? undefined : native.costNanoUsd / 1e9,
        [semconv.OPENHOOK_PERMISSION_WAIT]: native.permissionMs,
        [semconv.GEN_AI_TOOL_CALL_DECISION]: native.decision,
        [semconv.OPENHOOK_PERMISSION_SOURCE]: native.decidedBy,
        [semconv.OPENHOOK_TOOL_EXECUTION]: native.executionMs,
      };

/** Hooks and connections to MCP servers as events of a span. */
export const nativeEvents = (native: JoinedNative | undefined): SpanRecord["events"] => [
  ...(native?.hooks ?? []).map(({ timeMs, event, runs, failures, durationMs }) => ({
    name: "openhook.native.hook",
    timeMs,
    attributes: given({
      [semconv.OPENHOOK_HOOK.event]: event,
      [semconv.OPENHOOK_HOOK.runs]: runs,
      [semconv.OPENHOOK_HOOK.failures]: failures,
      [semconv.OPENHOOK_HOOK.duration]: durationMs,
    }),
  })),
  ...(native?.connections ?? []).map(({ timeMs, server, state, transport, durationMs, errorType }) => ({
    name: "openhook.native.mcp_connection",
    timeMs,
    attributes: given({
      [semconv.OPENHOOK_MCP_SERVER]: server,
      [semconv.OPENHOOK_MCP_STATE]: state,
      [semconv.OPENHOOK_MCP_TRANSPORT]: transport,
      [semconv.OPENHOOK_MCP_DURATION]: durationMs,
      [semconv.ERROR_TYPE]: errorType,
    }),
  })),
];

/** A link to the agent's own span. Only turns have one: it leads to the trace in which everything else is. */
export const nativeLinks = (native: JoinedNative | undefined): SpanRecord["links"] =>
  native?.span === undefined ? [] : [{ ...native.span, attributes: { [semconv.OPENHOOK_LINK_KIND]: "native" } }];

/**
 * What joined facts add to the metrics of their own. Each fact of a part is counted once, however often and in whatever order it
 * comes.
 *
 * @param call absent for turns and segments
 */
export function* nativeCounts(
  { kind, key }: NativePart,
  native: JoinedNative,
  call: ModelCall | ToolCall | undefined,
  facts: SessionFacts,
): Generator<Counted> {
  const count = (fact: string, shape: MetricShape, amount: number | undefined, attributes: Loose): Counted[] =>
    amount === undefined || (amount === 0 && shape.type === "counter")
      ? []
      : [
          {
            key: JSON.stringify([facts.source, facts.sessionId, "native", `${kind} ${key} ${fact}`]),
            increments: [step(shape, amount, facts, attributes)],
          },
        ];
  const model =
    call !== undefined && "complete" in call
      ? { [semconv.GEN_AI_REQUEST_MODEL]: call.requestedModel ?? call.model }
      : {};
  const { firstTokenMs, attempts, refusal, costNanoUsd, permissionMs, decision, decidedBy } = native;
  yield* count("first_token", SHAPES.firstToken, inSeconds(firstTokenMs), model);
  yield* count("retries", SHAPES.retries, attempts === undefined ? undefined : Math.max(0, attempts - 1), model);
  yield* count("refusal", SHAPES.refusals, refusal === undefined ? undefined : 1, model);
  yield* count("cost", SHAPES.reportedCost, costNanoUsd === undefined ? undefined : Math.round(costNanoUsd), model);
  yield* count("permission", SHAPES.permissionWait, inSeconds(permissionMs), {
    [semconv.GEN_AI_TOOL_NAME]: call !== undefined && "callId" in call ? call.name : undefined,
    [semconv.GEN_AI_TOOL_CALL_DECISION]: decision,
    [semconv.OPENHOOK_PERMISSION_SOURCE]: decidedBy,
  });
}

/** A settled part with records that belong to it, and what it is if it is a call. */
export interface SettledNative extends NativeJoin {
  readonly call?: ModelCall | ToolCall | undefined;
  /** Records of it that were exported before. @default none */
  readonly before?: readonly NativeRecord[];
}

/**
 * What the agent's own telemetry said of parts of one run after their spans were exported, as events of one span below the run's. Its
 * id is that of its first record, because a record is in one such span at most.
 */
export function lateNativeSpan(
  late: readonly SettledNative[],
  facts: SessionFacts,
  { traceId, parentSpanId }: { readonly traceId: string; readonly parentSpanId: string },
): KeyedSpan {
  const records = late.flatMap((one) => one.records);
  const times = records.map(({ timeMs }) => timeMs);
  const [first = ""] = records.map(({ key }) => key).sort();
  return span(facts, "native", first, traceId, {
    parentSpanId,
    name: `late_part ${facts.source}`,
    kind: "internal",
    startMs: minOf(times),
    endMs: maxOf(times),
    error: undefined,
    events: late.flatMap(lateEvents),
    attributes: { [semconv.OPENHOOK_SPAN_KIND]: "late_part" },
  });
}

/** A record that could not be joined, counted once. */
export const unjoinedCount = (source: string, sessionId: string, key: string): Counted => ({
  key: JSON.stringify([source, sessionId, "native", `unjoined ${key}`]),
  increments: [step(SHAPES.unjoined, 1, { source }, {})],
});

// --- internal ---

const inSeconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000);

function lateEvents({ part, records, call, before = [] }: SettledNative): SpanRecord["events"] {
  const native = mergedNative(records);
  const exported = nativeAttributes(mergedNative(before));
  const added = Object.entries(given(nativeAttributes(native))).filter(([name, value]) => exported[name] !== value);
  const attributes = Object.fromEntries(added);
  const timeMs = minOf(records.map((record) => record.timeMs));
  return [
    ...(Object.keys(attributes).length === 0
      ? []
      : [{ name: "openhook.native.late", timeMs, attributes: given({ ...attributes, ...idsOf(part, call) }) }]),
    ...nativeEvents(native),
  ];
}

const idsOf = ({ kind, key }: NativePart, call: ModelCall | ToolCall | undefined): Loose =>
  call === undefined
    ? {}
    : "callId" in call
      ? { [semconv.GEN_AI_TOOL_CALL_ID]: call.givenId ?? call.callId }
      : { [semconv.GEN_AI_RESPONSE_ID]: call.responseId ?? (kind === "model_call" ? key : undefined) };

const step = (
  shape: MetricShape,
  amount: number,
  { source }: Pick<SessionFacts, "source">,
  attributes: Loose,
): Increment => ({
  metric: shape.name,
  amount,
  attributes: given(attributes),
  resource: { [semconv.SERVICE_NAME]: source },
});
