import type { Dashboard } from "@grafana/grafana-foundation-sdk/dashboard";
import { coverage } from "./coverage.ts";
import { dashboardOf, type Panels, withRows } from "./dashboard.ts";
import { onlyThis, put, toSessions, UID } from "./links.ts";
import { orZero } from "./measures.ts";
import { bars, lines, stat, table, UNIT } from "./panels.ts";
import { exact, exactSum, IDLE, LABEL, type LabelKey, quantile, ratio, sumBy } from "./promql.ts";
import { of } from "./select.ts";
import { SILENT_DAYS } from "./silent.ts";
import { agentVersions } from "./traces.ts";
import { variable } from "./variables.ts";

/** Whether the agents' data arrives, from the program's own metrics. */
export const collectorHealth = (): Dashboard =>
  withRows(
    dashboardOf({
      title: "collector health",
      uid: UID.health,
      description: "openhook-otel's own metrics from every machine: queue, quarantine, unknown names, silent machines.",
      from: "now-24h",
      refresh: "5m",
      variables: [
        variable.datasource(),
        variable.tempo(),
        variable.window(),
        variable.selfEnvironment(),
        variable.machine(),
      ],
    }),
    {
      Problems: problems(),
      Machines: machines(),
      Coverage: coveragePanels(),
      Delivery: delivery(),
      "Payloads and transcripts": payloads(),
    },
  ).build();

// --- internal ---

const problems = (): Panels => [
  stat({
    title: "Machines reporting",
    description: "Machines that reported in this time range.",
    todo: "If it falls, see “Silent for” below.",
    unit: UNIT.count,
    width: 4,
    expr: `count(${sumBy(["machine"], exact(of.self("drain.count")))} > 0)`,
  }),
  stat({
    title: "Silent machines",
    description: `Machines seen in the last ${IDLE}, but not in the last ${SILENT_DAYS} days: a holiday, or openhook-otel does not run or cannot deliver.`,
    todo: "Run `openhook-otel doctor` there.",
    unit: UNIT.count,
    width: 4,
    steps: [
      ["text", null],
      ["orange", 1],
    ],
    expr: `count(time() - max by (${LABEL.machine}) (${latest("report.time", IDLE)}) > ${SILENT_DAYS * 86_400}) or vector(0)`,
  }),
  stat({
    title: "Dropped",
    description:
      "Spans dropped from a machine's queue before a backend accepted them, and events lost because its disk was full. Must stay 0.",
    todo: "Fix the connection or the disk of the machine that the alert OpenhookDropped names; its store still has the sessions.",
    unit: UNIT.count,
    width: 4,
    steps: [
      ["green", null],
      ["red", 1],
    ],
    expr: orZero(exactSum(of.self("dropped.count")), exactSum(of.self("drain.count"))),
  }),
  stat({
    title: "Quarantined",
    description:
      "Payloads that no adapter recognised, on all machines now. `openhook-otel replay` retries them after an update.",
    todo: "Update openhook-otel there first.",
    unit: UNIT.count,
    width: 4,
    steps: [
      ["green", null],
      ["orange", 1],
    ],
    expr: sumBy([], latest("quarantine.files")),
  }),
  stat({
    title: "Unknown names",
    description:
      "Distinct events, fields and records that the installed versions do not know, on all machines now: an agent changed.",
    todo: "Update openhook-otel, or report the names that `openhook-otel doctor` prints.",
    unit: UNIT.count,
    width: 4,
    steps: [
      ["green", null],
      ["orange", 1],
    ],
    expr: `${sumBy([], latest("drift.names"))} or 0 * ${sumBy([], latest("store.sessions"))}`,
  }),
  stat({
    title: "Oldest queued span",
    description: "The age of the oldest queued span on the machine furthest behind, at its last report.",
    todo: "Above an hour, run `openhook-otel status` on that machine: it shows the backend's answer.",
    unit: UNIT.seconds,
    width: 4,
    steps: [
      ["green", null],
      ["orange", 600],
      ["red", 3600],
    ],
    expr: `max(${latest("outbox.age")})`,
  }),
];

const machines = (): Panels => [
  table({
    title: "Machines",
    description:
      "Each machine's last report. A machine that cannot deliver cannot report its queue either: see “Silent for”.",
    todo: "Run `openhook-otel doctor` on machines with coloured values.",
    width: 24,
    height: 10,
    by: [
      ["machine", "Machine"],
      ["environment", "Environment"],
    ],
    columns: [
      {
        name: "Silent for",
        expr: silence,
        unit: UNIT.seconds,
        decimals: 0,
        steps: [
          ["green", null],
          ["orange", 86_400],
          ["red", 86_400 * SILENT_DAYS],
        ],
      },
      { name: "Drains", expr: exactSum(of.self("drain.count"), MACHINE), unit: UNIT.count },
      { name: "Spans queued", expr: maxOf("outbox.spans"), unit: UNIT.count },
      {
        name: "Oldest span",
        expr: maxOf("outbox.age"),
        unit: UNIT.seconds,
        decimals: 0,
        steps: [
          ["text", null],
          ["orange", 600],
          ["red", 3600],
        ],
      },
      { name: "Payloads queued", expr: maxOf("inbox.files"), unit: UNIT.count },
      {
        name: "Quarantined",
        expr: maxOf("quarantine.files"),
        unit: UNIT.count,
        steps: [
          ["text", null],
          ["orange", 1],
        ],
      },
      { name: "Sessions stored", expr: maxOf("store.sessions"), unit: UNIT.count },
      { name: "Store", expr: maxOf("store.size"), unit: UNIT.bytes },
      {
        name: "Clock ahead",
        expr: maxOf("clock.skew"),
        unit: UNIT.seconds,
        decimals: 1,
        noValue: "in sync",
        steps: [
          ["red", null],
          ["text", -60],
          ["red", 60],
        ],
      },
    ],
    sortBy: "Silent for",
    links: [onlyThis("Only this machine", "health", { machine: put("__data.fields.Machine") })],
  }),
];

const coveragePanels = (): Panels => [
  coverage.covered(),
  coverage.uncovered(),
  coverage.blocked(),
  coverage.versions(),
  coverage.machines(),
  coverage.drains(),
  agentVersions(),
];

const delivery = (): Panels => [
  bars({
    title: "Export requests",
    description: "By outcome. retry: retried later. refused and partial: the backend rejected data.",
    todo: "Refused requests need a change of the backend or its limits: `openhook-otel status` shows its answer.",
    unit: UNIT.count,
    decimals: 0,
    width: 8,
    queries: [
      {
        expr: exactSum(of.self("export.request.count"), ["signal", "outcome"], "$__interval"),
        legend: `{{${LABEL.signal}}}: {{${LABEL.outcome}}}`,
      },
    ],
  }),
  bars({
    title: "Drains",
    description: "By outcome. The next drain reports a killed one.",
    todo: "Failed drains: `openhook-otel doctor` on that machine says why.",
    unit: UNIT.count,
    decimals: 0,
    width: 8,
    queries: [{ expr: exactSum(of.self("drain.count"), ["outcome"], "$__interval"), legend: `{{${LABEL.outcome}}}` }],
  }),
  lines({
    title: "Drain duration",
    description: "Over the six hours before each point. Agents never wait for drains.",
    todo: "If it grows for days, prune old sessions or look for a slow disk.",
    unit: UNIT.seconds,
    width: 8,
    queries: [
      { expr: quantile(0.5, of.self("drain.duration", "", "_bucket"), [], "6h"), legend: "p50" },
      { expr: quantile(0.95, of.self("drain.duration", "", "_bucket"), [], "6h"), legend: "p95" },
    ],
  }),
  lines({
    title: "Queue",
    description: "Payloads in inboxes and spans in outboxes on all machines, at their last report.",
    todo: "If it grows, the backend does not accept data: see the export requests.",
    unit: UNIT.count,
    width: 8,
    queries: [
      { expr: sumBy([], latest("inbox.files", "1h")), legend: "payloads in inboxes" },
      { expr: sumBy([], latest("outbox.spans", "1h")), legend: "spans in outboxes" },
      { expr: sumBy([], latest("claimed.files", "1h")), legend: "payloads claimed, not finished" },
    ],
  }),
  stat({
    title: "Successful export requests",
    description: "Accepted completely by the backend, as a share of all requests.",
    todo: "Below 99 %, see which signal and outcome fail in “Export requests”.",
    unit: UNIT.share,
    decimals: 1,
    width: 8,
    height: 8,
    steps: [
      ["red", null],
      ["orange", 0.9],
      ["green", 0.99],
    ],
    expr: ratio(
      orZero(
        exactSum(of.self("export.request.count", `${LABEL.outcome}="ok"`)),
        exactSum(of.self("export.request.count")),
      ),
      exactSum(of.self("export.request.count")),
    ),
  }),
  lines({
    title: "Store size",
    description: "The largest, and the total.",
    todo: "If a store is large, lower store.retentionDays there, or run `openhook-otel prune`.",
    unit: UNIT.bytes,
    width: 8,
    queries: [
      { expr: `max(${latest("store.size", "1h")})`, legend: "largest" },
      { expr: sumBy([], latest("store.size", "1h")), legend: "all" },
    ],
  }),
];

const payloads = (): Panels => [
  bars({
    title: "Payloads by outcome",
    description: "converted: became events. ignored: contain no needed data. quarantined: kept for a retry, not lost.",
    todo: "Quarantined payloads: see the next panel.",
    unit: UNIT.count,
    decimals: 0,
    width: 8,
    queries: [{ expr: exactSum(of.self("payload.count"), ["outcome"], "$__interval"), legend: `{{${LABEL.outcome}}}` }],
  }),
  table({
    title: "Quarantined payloads",
    description:
      "By agent and reason. unrecognised: no adapter knows it. unreadable: not JSON. incomplete: the hook was killed while writing.",
    todo: "Update openhook-otel, then run `openhook-otel replay` on that machine.",
    width: 8,
    noValue: "none",
    by: [
      ["source", "Agent"],
      ["reason", "Reason"],
    ],
    columns: [
      {
        name: "Payloads",
        expr: `${exactSum(of.self("payload.count", `${LABEL.outcome}="quarantined"`), ["source", "reason"])} > 0`,
        unit: UNIT.count,
      },
    ],
    links: [toSessions("Sessions of this agent", { agent: put("__data.fields.Agent") })],
  }),
  table({
    title: "Unknown names by agent version",
    description:
      "By agent and version, the maximum of any machine. `openhook-otel doctor` on that machine lists them; a newer openhook-otel may know them.",
    todo: "If a newer openhook-otel does not know them either, report them.",
    width: 8,
    noValue: "none",
    by: [
      ["source", "Agent"],
      ["sourceVersion", "Version"],
      ["driftKind", "Kind"],
    ],
    columns: [
      {
        name: "Names",
        expr: `max by (${DRIFT.map((key) => LABEL[key]).join(", ")}) (${latest("drift.names")})`,
        unit: UNIT.count,
      },
    ],
    links: [toSessions("Sessions of this agent", { agent: put("__data.fields.Agent") })],
  }),
  table({
    title: "Events and transcript lines",
    description: "Payloads, new events and transcript lines by agent. Unreadable lines are skipped and counted.",
    todo: "Unreadable lines: run `openhook-otel doctor` there, then `openhook-otel import` after an update.",
    width: 24,
    height: 8,
    by: [["source", "Agent"]],
    columns: [
      { name: "Payloads", expr: exactSum(of.self("payload.count"), ["source"]), unit: UNIT.count },
      { name: "New events", expr: exactSum(of.self("event.count"), ["source"]), unit: UNIT.count },
      { name: "Transcript lines", expr: exactSum(of.self("transcript.line.count"), ["source"]), unit: UNIT.count },
      {
        name: "Unreadable lines",
        expr: orZero(
          exactSum(of.self("transcript.line.count", `${LABEL.outcome}="unreadable"`), ["source"]),
          exactSum(of.self("transcript.line.count"), ["source"]),
        ),
        unit: UNIT.count,
        steps: [
          ["text", null],
          ["orange", 1],
        ],
      },
      { name: "Unknown names", expr: exactSum(of.self("drift.count"), ["source"]), unit: UNIT.count, noValue: "0" },
    ],
    links: [toSessions("Sessions of this agent", { agent: put("__data.fields.Agent") })],
  }),
];

const MACHINE: readonly LabelKey[] = ["machine", "environment"];
const DRIFT: readonly LabelKey[] = ["source", "sourceVersion", "driftKind"];

/** Each machine's last value of a gauge. Gauges are sent only with a delivery, so the last value is valid for a day. */
function latest(metric: string, within = "1d"): string {
  return `last_over_time(${of.self(metric)}[${within}])`;
}

function maxOf(metric: string): string {
  return `max by (${MACHINE.map((key) => LABEL[key]).join(", ")}) (${latest(metric, IDLE)})`;
}

/** Seconds since a machine's last report, by the time in the report: a Collector exposes the last values permanently. */
const silence = `time() - ${maxOf("report.time")}`;
