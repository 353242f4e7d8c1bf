import { FLEET, type Fleet } from "./fleet.ts";
import { exactSum, LABEL, type LabelKey, labels, ratio, raw, recorded, sumBy } from "./promql.ts";
import type { Group, RecordingRule } from "./rules.ts";
import { versionGroup } from "./version-rules.ts";

/** Sums over machines, and the figures that alerts and budgets use. */
export const recordingGroups = (): readonly Group<RecordingRule>[] => [
  {
    name: "openhook-held",
    interval: "1m",
    remark:
      "The last value of every machine's counters, kept while the machine is idle: a restarted Collector exposes a machine's counters only after it has sent again, and a pushed series ends after five minutes. Survives two hours without Prometheus.",
    rules: FLEET.map((fleet) => ({
      record: held(fleet),
      expr: `${ours(fleet)} or last_over_time(${held(fleet)}[2h])`,
    })),
  },
  {
    name: "openhook-fleet",
    interval: "1m",
    remark:
      "The same summed over machines: the dashboards use it with “Totals from: recorded”. A new machine counts from 0 and none is removed, so these never decrease, and their exact difference is the exact total.",
    rules: FLEET.map((fleet) => ({
      record: recorded(fleet.metric, fleet.part),
      expr: sumBy(["environment", "agent", ...fleet.by], held(fleet)),
    })),
  },
  {
    name: "openhook-derived",
    interval: "5m",
    remark: "Figures over fixed windows, for budgets and alerts.",
    rules: [
      ...WINDOWS.map((window) => ({
        record: `openhook:cost_usd:${window}`,
        expr: exactSum(recorded("openhook.cost.usage"), PLACE, window),
      })),
      ...WINDOWS.map((window) => ({
        record: `openhook:budget_spent:ratio_${window}`,
        // A budget without a repository applies to all of them
        expr: [
          `sum(openhook:cost_usd:${window}) / on () group_right () openhook:budget_usd{${LABEL.repository}=""}`,
          `sum by (${LABEL.repository}) (openhook:cost_usd:${window}) / on (${LABEL.repository}) group_right () openhook:budget_usd{${LABEL.repository}!=""}`,
        ].join(" or "),
      })),
      { record: "openhook:tool_calls:1h", expr: exactSum(`${TOOLS}{${RAN}}`, TOOL, "1h") },
      {
        record: "openhook:tool_errors:ratio_1h",
        expr: ratio(exactSum(`${TOOLS}{${LABEL.toolStatus}="error"}`, TOOL, "1h"), "openhook:tool_calls:1h"),
      },
      ...["6h", "1d"].map((window) => ({
        record: `openhook:input_tokens:${window}`,
        expr: exactSum(tokens("input"), MODEL, window),
      })),
      ...["6h", "1d"].map((window) => ({
        record: `openhook:cache_hit:ratio_${window}`,
        expr: ratio(exactSum(tokens("cache_read"), MODEL, window), `openhook:input_tokens:${window}`),
      })),
      {
        record: "openhook:cache_miss:ratio_1d",
        expr: `${exactSum(recorded("openhook.cache.miss.tokens"), [...AGENT, "missCause"], "1d")} / on (${labels(AGENT)}) group_left () (${sumBy(AGENT, "openhook:input_tokens:1d")} > 0)`,
      },
    ],
  },
  versionGroup(),
];

// --- internal ---

const WINDOWS = ["1h", "1d", "7d", "30d"] as const;
const PLACE: readonly LabelKey[] = ["environment", "agent", "repository"];
const AGENT: readonly LabelKey[] = ["environment", "agent"];
const MODEL: readonly LabelKey[] = [...AGENT, "model"];
const TOOL: readonly LabelKey[] = ["environment", "agent", "tool", "mcpServer"];

const RAN = `${LABEL.toolStatus}=~"success|error"`;
const TOOLS = recorded("openhook.tool.call.count");

/**
 * Other programs send metrics with the names of the conventions too, some agents' own telemetry among them. Ours come from
 * instances that also report turns.
 */
const ours = ({ metric, part }: Fleet): string =>
  metric.startsWith("gen_ai.")
    ? `(${raw(metric, part)} and on (${LABEL.machine}) held:${raw("openhook.turn.count")})`
    : raw(metric, part);
const held = ({ metric, part }: Fleet): string => `held:${raw(metric, part)}`;
const tokens = (type: string): string => `${recorded("openhook.token.usage")}{${LABEL.tokenType}="${type}"}`;
