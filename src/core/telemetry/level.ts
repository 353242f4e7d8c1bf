import type { OwnNames } from "../model/agent.ts";
import type { CaptureLevel } from "../model/capture.ts";
import type { Attributes, Increment, SpanRecord } from "../model/telemetry.ts";
import { keepsContent, keepsNames } from "../rules/capture.ts";
import { isOwnAgentType, reduceOrigin, reduceToolName } from "../rules/names.ts";
import { type AttributeName, attributesOf, CONTENT_ATTRIBUTES, type EXPOSURE } from "./attributes.ts";
import * as semconv from "./semconv.ts";

/** The agent's built-in names, by source. */
export type OwnNamesOf = (source: string) => OwnNames | undefined;

/**
 * A span as the capture level allows it to be exported, even if it was built at another level. Ids, times, statuses and counts
 * never change.
 *
 * @returns the same object if nothing had to be removed
 */
export function recordAtLevel(record: SpanRecord, level: CaptureLevel, ownNamesOf: OwnNamesOf): SpanRecord {
  const withoutContent = keepsContent(level) ? record : stripped(record, CONTENT_ATTRIBUTES);
  return keepsNames(level) ? withoutContent : bareRecord(withoutContent, ownNamesOf);
}

/** `recordAtLevel` for one increment of a counter. */
export function incrementAtLevel(increment: Increment, level: CaptureLevel, ownNamesOf: OwnNamesOf): Increment {
  if (keepsNames(level)) return increment;
  const attributes = attributesAtLevel(increment.attributes, increment.resource, level, ownNamesOf);
  return attributes === increment.attributes ? increment : { ...increment, attributes };
}

/** A stream's attributes as the capture level allows. @returns the same object if nothing had to be removed */
export function attributesAtLevel(
  attributes: Attributes,
  resource: Attributes,
  level: CaptureLevel,
  ownNamesOf: OwnNamesOf,
): Attributes {
  if (keepsNames(level)) return attributes;
  const source = String(resource[semconv.SERVICE_NAME] ?? "");
  const bare = bareAttributes(attributes, source, ownNamesOf(source));
  return isSame(bare, attributes) ? attributes : bare;
}

// --- internal ---

const NAMES = attributesOf("name");

/** How each name is reduced at `none` to the agent's own names. */
const REDUCERS: Readonly<Record<ReducedName, Reducer>> = {
  [semconv.GEN_AI_TOOL_NAME]: (value, { server, own }) => reduceToolName(value, server, own),
  [semconv.GEN_AI_AGENT_NAME]: (value, { source, own }) =>
    value === source || isOwnAgentType(value, own) ? value : "subagent",
  [semconv.OPENHOOK_START_ORIGIN]: (value) => reduceOrigin(value) ?? value,
};

type ReducedName = { [K in AttributeName]: (typeof EXPOSURE)[K] extends "reduced" ? K : never }[AttributeName];

type Reducer = (
  value: string,
  from: { readonly source: string; readonly server: string | undefined; readonly own: OwnNames | undefined },
) => string;

const isReduced = (name: string): name is ReducedName => Object.hasOwn(REDUCERS, name);

function stripped(record: SpanRecord, names: ReadonlySet<string>): SpanRecord {
  const kept = Object.entries(record.attributes).filter(([name]) => !names.has(name));
  return kept.length === Object.keys(record.attributes).length
    ? record
    : { ...record, attributes: Object.fromEntries(kept) };
}

function bareRecord(record: SpanRecord, ownNamesOf: OwnNamesOf): SpanRecord {
  const source = String(record.resource[semconv.SERVICE_NAME] ?? "");
  const attributes = bareAttributes(record.attributes, source, ownNamesOf(source));
  const name = nameOf(record, attributes);
  const resource = Object.fromEntries(Object.entries(record.resource).filter(([key]) => !NAMES.has(key)));
  const events = record.events.map((event) => ({
    ...event,
    attributes: bareAttributes(event.attributes, source, undefined),
  }));
  return isSame(attributes, record.attributes) &&
    isSame(resource, record.resource) &&
    name === record.name &&
    events.every((event, i) => isSame(event.attributes, record.events[i]?.attributes ?? {}))
    ? record
    : { ...record, name, attributes, resource, events };
}

function bareAttributes(attributes: Attributes, source: string, own: OwnNames | undefined): Attributes {
  const given = attributes[semconv.OPENHOOK_MCP_SERVER];
  const server = typeof given === "string" ? given : undefined;
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]): [string, Attributes[string]][] => {
      if (NAMES.has(name)) return [];
      if (typeof value !== "string" || !isReduced(name)) return [[name, value]];
      return [[name, REDUCERS[name](value, { source, server, own })]];
    }),
  );
}

/** Span names contain some of the attributes. */
function nameOf({ name }: SpanRecord, attributes: Attributes): string {
  const tool = attributes[semconv.GEN_AI_TOOL_NAME];
  if (tool !== undefined) return `execute_tool ${String(tool)}`;
  return name.startsWith("invoke_agent ") ? `invoke_agent ${String(attributes[semconv.GEN_AI_AGENT_NAME])}` : name;
}

const isSame = (a: Attributes, b: Attributes): boolean => {
  const names = Object.keys(b);
  return names.length === Object.keys(a).length && names.every((name) => a[name] === b[name]);
};
