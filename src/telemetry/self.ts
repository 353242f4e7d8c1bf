// What this program tells of itself. Names and values are ours alone: nothing of an agent's content, no path, no id.
import type { Attributes, Increment, MetricShape } from "../model/telemetry.ts";
import * as semconv from "./semconv.ts";

/** `service.name` of what the program tells of itself. */
const SELF_SERVICE = "openhook-otel";

/** What all names of its own figures begin with. */
export const SELF_PREFIX = "openhook.collector.";

/** Why a payload was set aside, in families that stay the same whatever the payload holds. */
export const QUARANTINE_FAMILIES = [
  "unrecognised",
  "unconvertible",
  "unreadable",
  "incomplete",
  "foreign_file",
  "other",
] as const;
export type QuarantineFamily = (typeof QUARANTINE_FAMILIES)[number];

const counter = (name: string, unit: string, description: string): MetricShape => ({
  name: `${SELF_PREFIX}${name}`,
  unit,
  description,
  type: "counter",
  value: "int",
});
const gauge = (name: string, unit: string, description: string, value: MetricShape["value"] = "int"): MetricShape => ({
  name: `${SELF_PREFIX}${name}`,
  unit,
  description,
  type: "gauge",
  value,
});

/** From a drain with nothing to do to one that works off an outage. */
const DRAIN_BOUNDS = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8];

export const SELF = {
  payloads: counter("payload.count", "{payload}", "Payloads taken from the inbox, by what became of them"),
  events: counter("event.count", "{event}", "Events that were not known before"),
  lines: counter("transcript.line.count", "{line}", "Transcript lines that were read, by whether they could be"),
  drift: counter("drift.count", "{occurrence}", "Names in payloads and transcripts that this version does not know"),
  dropped: counter("dropped.count", "{record}", "What was given up before any backend took it; must stay 0"),
  drains: counter("drain.count", "{drain}", "Drains, by how they ended"),
  drainDuration: {
    name: `${SELF_PREFIX}drain.duration`,
    unit: "s",
    description: "How long drains took",
    type: "histogram",
    value: "double",
    bounds: DRAIN_BOUNDS,
  },
  requests: counter("export.request.count", "{request}", "Requests to the backend, by what became of them"),
  inboxFiles: gauge("inbox.files", "{file}", "Payloads that wait for a drain"),
  inboxAge: gauge("inbox.age", "s", "Age of the oldest payload that waits", "double"),
  claimedFiles: gauge("claimed.files", "{file}", "Payloads that a drain took and did not finish"),
  quarantineFiles: gauge("quarantine.files", "{file}", "Payloads that were set aside"),
  outboxSpans: gauge("outbox.spans", "{span}", "Spans that wait for the backend"),
  outboxBytes: gauge("outbox.size", "By", "Size of the spans that wait for the backend"),
  outboxAge: gauge("outbox.age", "s", "How long the span that waits longest does", "double"),
  successAge: gauge("export.last_success.age", "s", "Time since the backend last took something", "double"),
  storeBytes: gauge("store.size", "By", "Size of the store on disk"),
  storeSessions: gauge("store.sessions", "{session}", "Sessions in the store"),
  driftNames: gauge("drift.names", "{name}", "Different names that this version does not know"),
  overflow: gauge("overflow.metrics", "{metric}", "Metrics with more attribute values than are kept apart"),
  reportTime: gauge("report.time", "s", "Unix time at which this machine told its figures", "double"),
  clockSkew: gauge("clock.skew", "s", "How far this machine's clock is ahead of the backend's", "double"),
} as const satisfies Record<string, MetricShape>;

/** Every metric of the program itself, by its name. */
export const SELF_SHAPES: readonly MetricShape[] = Object.values(SELF);

/**
 * Figures that change with every drain whether or not anything happened: they go along with a delivery, and are no reason
 * for one.
 */
export const QUIET_METRICS: readonly string[] = [SELF.drains, SELF.drainDuration, SELF.requests].map(
  ({ name }) => name,
);

/** One step of a counter or histogram of the program's own. */
export const selfStep = (
  shape: MetricShape,
  amount: number,
  attributes: Readonly<Record<string, string | undefined>> = {},
): Increment => ({
  metric: shape.name,
  amount,
  attributes: Object.fromEntries(Object.entries(attributes).filter(([, v]) => v !== undefined)) as Attributes,
  resource: SELF_RESOURCE,
});

export const SELF_RESOURCE: Attributes = { [semconv.SERVICE_NAME]: SELF_SERVICE };

/** The family of a reason, as the inbox and the adapters word it. */
export function quarantineFamily(reason: string): QuarantineFamily {
  const found = FAMILIES.find(([pattern]) => pattern.test(reason));
  return found === undefined ? "other" : found[1];
}

// --- internal ---

const FAMILIES: readonly (readonly [RegExp, QuarantineFamily])[] = [
  [/^no agent recognises it/, "unrecognised"],
  [/^it cannot be (?:converted|stored)/, "unconvertible"],
  [/^the intake died/, "incomplete"],
  [/^not (?:a regular file|an inbox file)|^the (?:file|header)/, "foreign_file"],
  [/payload|JSON|bytes/, "unreadable"],
];
