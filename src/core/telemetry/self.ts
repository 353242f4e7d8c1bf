// Telemetry about this program itself. Its names and values come from this program: no content, path or id from an agent.
import type { Attributes, Increment, MetricShape } from "../model/telemetry.ts";
import * as semconv from "./semconv.ts";

/** `service.name` of the program's own telemetry. */
const SELF_SERVICE = "openhook-otel";

/** Prefix of the program's own metrics. */
export const SELF_PREFIX = "openhook.collector.";

/** Categories of reasons for quarantining a payload. They do not depend on the payload's content. */
export const QUARANTINE_CATEGORIES = [
  "unrecognised",
  "unconvertible",
  "unreadable",
  "incomplete",
  "foreign_file",
  "other",
] as const;
type QuarantineCategory = (typeof QUARANTINE_CATEGORIES)[number];

/**
 * Whether an agent that is used on a machine is collected. `covered`: our hooks are registered, or arrive although another program
 * registered them. `partial`: only in some projects. `blocked`: registered, but a setting or a policy keeps them from running.
 * `uncovered`: it has recent transcripts, and no hooks.
 */
export const COVERAGES = ["covered", "partial", "blocked", "uncovered"] as const;
export type Coverage = (typeof COVERAGES)[number];

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

/** From an empty drain to one that delivers the queue after an outage. */
const DRAIN_BOUNDS = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8];

export const SELF = {
  payloads: counter("payload.count", "{payload}", "Payloads read from the inbox, by outcome"),
  events: counter("event.count", "{event}", "New events, without duplicates"),
  lines: counter("transcript.line.count", "{line}", "Transcript lines read, by outcome"),
  drift: counter("drift.count", "{occurrence}", "Unknown names in payloads and transcripts"),
  dropped: counter("dropped.count", "{record}", "Records dropped before a backend accepted them; must stay 0"),
  repaired: counter(
    "span.repaired.count",
    "{span}",
    "Spans queued below their session because their parent was not found; must stay 0",
  ),
  drains: counter("drain.count", "{drain}", "Drains, by outcome"),
  drainDuration: {
    name: `${SELF_PREFIX}drain.duration`,
    unit: "s",
    description: "Duration of drains",
    type: "histogram",
    value: "double",
    bounds: DRAIN_BOUNDS,
  },
  requests: counter("export.request.count", "{request}", "Export requests, by outcome"),
  inboxFiles: gauge("inbox.files", "{file}", "Payloads queued for a drain"),
  inboxAge: gauge("inbox.age", "s", "Age of the oldest queued payload", "double"),
  claimedFiles: gauge("claimed.files", "{file}", "Payloads that a drain started and did not finish"),
  quarantineFiles: gauge("quarantine.files", "{file}", "Quarantined payloads"),
  outboxSpans: gauge("outbox.spans", "{span}", "Spans queued for the backend"),
  outboxBytes: gauge("outbox.size", "By", "Size of the queued spans"),
  outboxAge: gauge("outbox.age", "s", "Age of the oldest queued span", "double"),
  successAge: gauge("export.last_success.age", "s", "Time since the last successful export", "double"),
  storeBytes: gauge("store.size", "By", "Size of the store on disk"),
  storeSessions: gauge("store.sessions", "{session}", "Sessions in the store"),
  failedSessions: gauge("failed.sessions", "{session}", "Sessions not read, built, redacted or encoded; drains retry"),
  driftNames: gauge("drift.names", "{name}", "Distinct unknown names"),
  overflow: gauge("overflow.metrics", "{metric}", "Metrics at their series limit"),
  reportTime: gauge(
    "report.time",
    "s",
    "Unix time of this machine's last report, by version of this program",
    "double",
  ),
  drainTime: gauge("drain.time", "s", "Unix time of this machine's last completed drain", "double"),
  agents: gauge(
    "coverage.agents",
    "{agent}",
    "Agents used on this machine: 1 for the coverage that each has, 0 for the others",
  ),
  agentTime: gauge("agent.time", "s", "Unix time of each agent's last activity, by the version it had then", "double"),
  clockSkew: gauge("clock.skew", "s", "Time by which this machine's clock is ahead of the backend's", "double"),
} as const satisfies Record<string, MetricShape>;

/** Every metric of the program itself, by name. */
export const SELF_SHAPES: readonly MetricShape[] = Object.values(SELF);

/**
 * Metrics that change with every drain, even an empty one. They are sent with a delivery, but do not cause one.
 */
export const QUIET_METRICS: readonly string[] = [SELF.drains, SELF.drainDuration, SELF.requests].map(
  ({ name }) => name,
);

/** One increment of the program's own counter or histogram. */
export const selfIncrement = (
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

/** The category of a reason text from the inbox or an adapter. */
export function quarantineCategory(reason: string): QuarantineCategory {
  const found = CATEGORY_PATTERNS.find(([pattern]) => pattern.test(reason));
  return found === undefined ? "other" : found[1];
}

// --- internal ---

const CATEGORY_PATTERNS: readonly (readonly [RegExp, QuarantineCategory])[] = [
  [/^no agent recognises it|^its event is unknown/, "unrecognised"],
  [/^it cannot be (?:converted|stored)/, "unconvertible"],
  [/^the intake died/, "incomplete"],
  [/^not (?:a regular file|an inbox file)|^the (?:file|header)/, "foreign_file"],
  [/payload|JSON|bytes/, "unreadable"],
];
