import { ID_MEMBERS, PATH_MEMBERS } from "#kit/objects.ts";
import type { Attributes, Counted, MetricPoint, SpanRecord } from "../model/telemetry.ts";
import type { Redact } from "./redact.ts";

// Second protection: a secret that was missed when the facts were stored is redacted here in names, values and links.

/** Attributes with prompts, answers, arguments and results; all others have names. */
export interface Content {
  readonly attributes: ReadonlySet<string>;
  readonly redact: Redact;
}

/**
 * @param redact for names
 * @param content the attributes that are content, and how they are redacted
 * @returns the same object if nothing had to be redacted
 */
export function redactSpan(record: SpanRecord, redact: Redact, content?: Content): SpanRecord {
  const name = redact(record.name);
  const attributes = redactAttributes(record.attributes, redact, content);
  const resource = redactAttributes(record.resource, redact, content);
  const links = mapUnlessSame(record.links, (link) =>
    withAttributes(link, redactAttributes(link.attributes, redact, content)),
  );
  const events = mapUnlessSame(record.events, (event) => {
    const inner = withAttributes(event, redactAttributes(event.attributes, redact, content));
    const eventName = redact(event.name);
    return eventName === event.name ? inner : { ...inner, name: eventName };
  });
  const status = redactStatus(record.status, redact);
  const isSame =
    name === record.name &&
    attributes === record.attributes &&
    resource === record.resource &&
    links === record.links &&
    events === record.events &&
    status === record.status;
  return isSame ? record : { ...record, name, attributes, resource, links, events, status };
}

/** `redactSpan` for a point of a counter. */
export function redactPoint(point: MetricPoint, redact: Redact): MetricPoint {
  const attributes = redactAttributes(point.attributes, redact);
  const resource = redactAttributes(point.resource, redact);
  return attributes === point.attributes && resource === point.resource ? point : { ...point, attributes, resource };
}

/** Called before counting, so that two names that become equal are one series. */
export function redactCounted(counted: Counted, redact: Redact): Counted {
  const increments = mapUnlessSame(counted.increments, (one) =>
    withAttributes(one, redactAttributes(one.attributes, redact)),
  );
  return increments === counted.increments ? counted : { ...counted, increments };
}

/** Redacts names and values. Ids that other records refer to, and values that this program defines, stay. */
export function redactAttributes<T extends Attributes | Readonly<Record<string, string>>>(
  attributes: T,
  redact: Redact,
  content?: Content,
): T {
  let isSame = true;
  const clean = Object.entries(attributes).map(([name, value]): [string, unknown] => {
    if (UNREDACTED_ATTRIBUTES.has(name)) return [name, value];
    const change = content?.attributes.has(name) === true ? content.redact : redact;
    const next =
      typeof value === "string"
        ? change(value)
        : Array.isArray(value)
          ? mapUnlessSame(value as readonly string[], change)
          : value;
    const nextName = name.length > MAX_OWN_NAME ? redact(name) : name;
    if (next !== value || nextName !== name) isSame = false;
    return [nextName, next];
  });
  return isSame ? attributes : (Object.fromEntries(clean) as T);
}

/**
 * Redacts names, codes and texts of an event or entry. Ids and times stay. Paths stay too: transcripts and
 * repositories are found by them, and they are never sent. Paths of written files: see `protectEvent`.
 *
 * @returns the same object if nothing had to be redacted
 */
export function redactNames<T>(value: T, redact: Redact): T {
  return walk(value, "", redact) as T;
}

// --- internal ---

/** Longer attribute names come from other senders, so they are redacted too. */
const MAX_OWN_NAME = 48;

/** Attributes whose values are ids or defined by this program. */
const UNREDACTED_ATTRIBUTES: ReadonlySet<string> = new Set([
  "session.id",
  "gen_ai.conversation.id",
  "gen_ai.response.id",
  "gen_ai.tool.call.id",
  "gen_ai.operation.name",
  "gen_ai.tool.type",
  "openhook.request.id",
  "openhook.subagent.id",
  "openhook.span.kind",
  "openhook.link.kind",
  "openhook.tool.status",
  "openhook.turn.state",
  "openhook.turn.origin",
  "openhook.cost.source",
  "openhook.token.type",
  "openhook.code.change",
  "service.instance.id",
  "telemetry.distro.name",
  "telemetry.distro.version",
  "vcs.ref.head.revision",
]);

/** Members of events and entries that contain ids, times, paths and values that this program defines. */
const UNREDACTED_MEMBERS: ReadonlySet<string> = new Set([
  ...ID_MEMBERS,
  ...PATH_MEMBERS,
  "openhook",
  "type",
  "kind",
  "time",
]);

function walk(value: unknown, name: string, redact: Redact): unknown {
  if (typeof value === "string") return UNREDACTED_MEMBERS.has(name) ? value : redact(value);
  if (Array.isArray(value)) return mapUnlessSame(value as readonly unknown[], (item) => walk(item, name, redact));
  if (typeof value !== "object" || value === null) return value;
  let isSame = true;
  const clean = Object.entries(value).map(([member, inner]) => {
    const next = walk(inner, member, redact);
    const nextName = member.length > MAX_OWN_NAME ? redact(member) : member;
    if (next !== inner || nextName !== member) isSame = false;
    return [nextName, next] as const;
  });
  return isSame ? value : Object.fromEntries(clean);
}

function mapUnlessSame<T>(items: readonly T[], change: (item: T) => T): T[] {
  const clean = items.map(change);
  return clean.every((item, i) => item === items[i]) ? (items as T[]) : clean;
}

const withAttributes = <T extends { readonly attributes: Attributes }>(holder: T, attributes: Attributes): T =>
  attributes === holder.attributes ? holder : { ...holder, attributes };

function redactStatus(status: SpanRecord["status"], redact: Redact): SpanRecord["status"] {
  if (status.code !== "error" || status.message === undefined) return status;
  const message = redact(status.message);
  return message === status.message ? status : { ...status, message };
}
