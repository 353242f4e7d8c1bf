// Loaded only when log records are sent

import type { Compaction, SessionFacts } from "../model/session.ts";
import type { Attributes, LogRecord, SpanRecord } from "../model/telemetry.ts";
import { EXPOSURE } from "./attributes.ts";
import { spanIdOf, traceIdOf, worldIdOf } from "./ids.ts";
import { LOG_EVENTS } from "./log-events.ts";
import * as semconv from "./semconv.ts";
import { given, type Spelling } from "./span-attributes.ts";

/**
 * The events that a span stands for, as log records: its own one, which depends on its kind, and one for each event of the span. A
 * pure function of the record, so nothing is stored twice, and what the span may not show the log records do not show either.
 *
 * The parts never depend on the capture level.
 */
export function logsOf(record: SpanRecord, spelling: Spelling): readonly LogRecord[] {
  const { attributes } = record;
  const kind = String(attributes[semconv.OPENHOOK_SPAN_KIND]);
  return [
    ...(kind === "turn" ? turnEvents(record) : []),
    ...(isWhole(kind, attributes) ? [wholeEvent(LOG_EVENTS[kind].name, record)] : []),
    ...decision("decision", record.startMs, attributes),
    ...record.events.flatMap((event, i) => spanEvent(`event:${i}`, event)),
  ].map((event) => sealed(event, record, spelling));
}

/** A compaction as a log record of the session's span, because it is on no span. */
export function compactionLog(
  { key, timeMs, trigger, agentId }: Compaction,
  segment: number,
  facts: SessionFacts,
  spelling: Spelling,
): LogRecord {
  const ids = {
    traceId: traceIdOf(facts, `segment:${segment}`),
    spanId: spanIdOf(facts, "session", String(segment)),
    resource: given({ [semconv.SERVICE_NAME]: facts.source, [semconv.SERVICE_VERSION]: facts.agentVersion }),
  };
  const attributes = given({
    [semconv.GEN_AI_CONVERSATION_ID]: facts.sessionId,
    [semconv.SESSION_ID]: worldIdOf(facts),
    [semconv.GEN_AI_AGENT_NAME]: agentId === undefined ? facts.source : "subagent",
    [semconv.OPENHOOK_SUBAGENT_ID]: agentId,
    [semconv.OPENHOOK_COMPACTION_TRIGGER]: trigger,
  });
  const event = { part: `compaction:${key}`, name: LOG_EVENTS.compaction.name, timeMs, attributes };
  return sealed(event, { ...ids, attributes }, spelling);
}

// --- internal ---

type Event = Pick<LogRecord, "part" | "name" | "timeMs" | "attributes">;

/** Kinds of spans that have one event with all of their attributes. */
const WHOLE = ["model_call", "tool_call", "subagent", "session", "late_part"] as const;

const MODEL_ERROR = "openhook.model_error";
const EXCEPTION = LOG_EVENTS.exception.name;

/** What the spans of our events have in common. */
const CONTEXT = [
  semconv.GEN_AI_CONVERSATION_ID,
  semconv.SESSION_ID,
  semconv.GEN_AI_AGENT_NAME,
  semconv.OPENHOOK_SPAN_KIND,
] as const;

/** What is known of a turn when it begins. */
const OF_PROMPT: ReadonlySet<string> = new Set([
  semconv.OPENHOOK_TURN_ORIGIN,
  semconv.OPENHOOK_PROMPT_LENGTH,
  semconv.GEN_AI_INPUT_MESSAGES,
  semconv.VCS_REPOSITORY_NAME,
  semconv.VCS_REPOSITORY_URL,
  semconv.VCS_REF_HEAD_NAME,
]);

/** Spans of late parts of calls have only events: see `lateNativeSpan`. */
const isWhole = (kind: string, attributes: Attributes): kind is (typeof WHOLE)[number] =>
  WHOLE.some((one) => one === kind) && (kind !== "late_part" || attributes[semconv.GEN_AI_AGENT_NAME] !== undefined);

/** Its beginning and its end. An answer that no model call has is in the latter. */
const turnEvents = ({ attributes, startMs, endMs }: SpanRecord): readonly Event[] => [
  {
    part: "prompt",
    name: LOG_EVENTS.prompt.name,
    timeMs: startMs,
    attributes: picked(attributes, (name) => OF_PROMPT.has(name) || !Object.hasOwn(EXPOSURE, name)),
  },
  {
    part: "end",
    name: LOG_EVENTS.turn.name,
    timeMs: endMs,
    attributes: {
      ...picked(attributes, (name) => !OF_PROMPT.has(name) || name === semconv.OPENHOOK_TURN_ORIGIN),
      [semconv.OPENHOOK_DURATION]: endMs - startMs,
    },
  },
];

const wholeEvent = (name: string, { attributes, startMs, endMs }: SpanRecord): Event => ({
  part: "whole",
  name,
  timeMs: endMs,
  attributes: { ...attributes, [semconv.OPENHOOK_DURATION]: endMs - startMs },
});

/** Only what the agent itself reported: a refused call has its status in the call's own event. */
function decision(part: string, timeMs: number, attributes: Attributes): readonly Event[] {
  if (attributes[semconv.GEN_AI_TOOL_CALL_DECISION] === undefined) return [];
  return [
    {
      part,
      name: LOG_EVENTS.decision.name,
      timeMs,
      attributes: picked(attributes, (name) => OF_DECISION.has(name)),
    },
  ];
}

const OF_DECISION: ReadonlySet<string> = new Set([
  semconv.GEN_AI_TOOL_CALL_DECISION,
  semconv.GEN_AI_TOOL_CALL_ID,
  semconv.GEN_AI_TOOL_NAME,
  semconv.OPENHOOK_PERMISSION_SOURCE,
  semconv.OPENHOOK_PERMISSION_WAIT,
]);

function spanEvent(part: string, { name, timeMs, attributes }: SpanRecord["events"][number]): readonly Event[] {
  const type = attributes[semconv.ERROR_TYPE];
  const isError = name === MODEL_ERROR;
  const more = isError && type !== undefined ? { [semconv.EXCEPTION_TYPE]: type } : {};
  return [
    { part, name: isError ? EXCEPTION : name, timeMs, attributes: { ...attributes, ...more } },
    ...decision(`${part}:decision`, timeMs, attributes),
  ];
}

/** With what all events have. */
function sealed(
  event: Event,
  { traceId, spanId, attributes, resource }: Pick<SpanRecord, "traceId" | "spanId" | "attributes" | "resource">,
  { semconv: version }: Spelling,
): LogRecord {
  const context = picked(attributes, (name) => CONTEXT.some((one) => one === name));
  return {
    ...event,
    severity: event.name === EXCEPTION || event.attributes[semconv.ERROR_TYPE] !== undefined ? "warn" : "info",
    traceId,
    spanId,
    attributes: {
      ...context,
      ...event.attributes,
      [semconv.LOG_RECORD_UID]: `${spanId}/${event.part}`,
      // OTLP has had a field of its own for the name since v1.5
      ...(version !== "latest" && { [semconv.EVENT_NAME]: event.name }),
    },
    resource,
  };
}

const picked = (attributes: Attributes, isWanted: (name: string) => boolean): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([name]) => isWanted(name)));
