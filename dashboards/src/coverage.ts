import type { Builder } from "@grafana/grafana-foundation-sdk/cog";
import type { Panel } from "@grafana/grafana-foundation-sdk/dashboard";
import { COVERAGES, type Coverage } from "#core/telemetry/self.ts";
import { onlyThis, put } from "./links.ts";
import { matrix } from "./matrix.ts";
import { stat, table, UNIT } from "./panels.ts";
import { IDLE, LABEL, type LabelKey, labels, ratio, sumBy } from "./promql.ts";
import { of } from "./select.ts";

/** Which agents are collected on which machines. */
export const coverage = {
  covered: (): Builder<Panel> =>
    stat({
      title: "Covered",
      description:
        "Of the agents that are used on machines, the share whose hooks run. An agent is used if its hooks are registered, or if it wrote a transcript in the last 30 days.",
      todo: "Enable what the next two panels count.",
      unit: UNIT.share,
      decimals: 0,
      width: 4,
      steps: [
        ["red", null],
        ["orange", 0.8],
        ["green", 0.95],
      ],
      expr: ratio(counted("covered"), sumBy([], agents())),
    }),
  uncovered: (): Builder<Panel> =>
    stat({
      title: "Used without hooks",
      description:
        "Agents with recent transcripts and no hooks, on all machines. `openhook-otel enable` there adds them.",
      todo: "Add it to your roll-out.",
      unit: UNIT.count,
      width: 4,
      steps: STEPS,
      expr: counted("uncovered"),
    }),
  blocked: (): Builder<Panel> =>
    stat({
      title: "Blocked",
      description:
        "Agents whose registered hooks do not run: a policy, a setting or missing trust. `openhook-otel doctor` there names it with the remedy.",
      todo: "Then change the policy or setting.",
      unit: UNIT.count,
      width: 4,
      steps: STEPS,
      expr: counted("blocked"),
    }),
  versions: (): Builder<Panel> =>
    table({
      title: "Versions",
      description: "Machines by the version of openhook-otel that they reported last.",
      todo: "Update machines that are far behind.",
      width: 12,
      height: 4,
      by: [["collectorVersion", "Version"]],
      columns: [
        {
          name: "Machines",
          expr: `count by (${labels(["collectorVersion"])}) (${newestVersion})`,
          unit: UNIT.count,
        },
      ],
    }),
  machines: (): Builder<Panel> =>
    matrix({
      title: "Machines and agents",
      description:
        "covered: hooks run. in some projects: only there. blocked: registered, but a policy or a setting switches them off. no hooks: used, as its transcripts show, but not enabled. –: not used.",
      todo: "Red and orange cells need `openhook-otel doctor` or `openhook-otel enable` on that machine.",
      // A column for each agent: beside another panel their texts are cut off
      width: 24,
      height: 10,
      row: ["machine", "Machine"],
      column: ["source", "Agent"],
      value: "Coverage",
      expr: `${COVERAGES.map((one, index) => `${index + 1} * ${sumBy(["machine", "source"], agentsWith(one))}`).join(" + ")} > 0`,
      texts: COVERAGES.map((one, index) => [index + 1, ...TEXTS[one]]),
      noValue: "–",
    }),
  drains: (): Builder<Panel> =>
    table({
      title: "Last drain",
      description: "When each machine last completed a drain, and with which version it reported.",
      todo: "A machine that reports but does not drain needs `openhook-otel doctor`.",
      width: 14,
      height: 8,
      by: [
        ["machine", "Machine"],
        ["collectorVersion", "Version"],
      ],
      columns: [
        { name: "Reported", expr: ago(newestVersion), unit: UNIT.seconds, decimals: 0 },
        {
          name: "Drained",
          // The version is only on the other metric
          expr: `${ago(`max by (${labels(["machine"])}) (${latest("drain.time")})`)} + on (${LABEL.machine}) group_right () 0 * ${newestVersion}`,
          unit: UNIT.seconds,
          decimals: 0,
        },
      ],
      sortBy: "Reported",
      links: [onlyThis("Only this machine", "health", { machine: put("__data.fields.Machine") })],
    }),
} as const;

// --- internal ---

const STEPS = [
  ["green", null],
  ["orange", 1],
] as const;

const TEXTS: Readonly<Record<Coverage, readonly [text: string, colour: string]>> = {
  covered: ["covered", "green"],
  partial: ["in some projects", "yellow"],
  blocked: ["blocked", "red"],
  uncovered: ["no hooks", "orange"],
};

const latest = (metric: string, more = ""): string => `last_over_time(${of.self(metric, more)}[${IDLE}])`;

const BY_ENVIRONMENT = labels(["machine", "environment"]);
/** A machine whose environment was renamed has the series of both for a while. */
const IS_CURRENT = `and on (${BY_ENVIRONMENT}) topk by (${LABEL.machine}) (1, max by (${BY_ENVIRONMENT}) (${latest("report.time")}))`;

const agents = (more = ""): string => `(${latest("coverage.agents", more)} ${IS_CURRENT})`;
const agentsWith = (coverage: Coverage): string => agents(`${LABEL.coverage}="${coverage}"`);

/** Agents with a coverage, on all machines. */
const counted = (coverage: Coverage): string => sumBy([], agentsWith(coverage));

const BY_VERSION: readonly LabelKey[] = ["machine", "collectorVersion"];

/** For each machine the time of its last report, with the version that sent it. */
const newestVersion = `topk by (${LABEL.machine}) (1, max by (${labels(BY_VERSION)}) (${latest("report.time")}))`;

const ago = (time: string): string => `(time() - ${time})`;
