import type { Builder } from "@grafana/grafana-foundation-sdk/cog";
import type { Panel } from "@grafana/grafana-foundation-sdk/dashboard";
import { onlyThis, put, toSessions } from "./links.ts";
import { measure, orZero } from "./measures.ts";
import { type Column, table, UNIT } from "./panels.ts";
import { exactSum, LABEL, type LabelKey } from "./promql.ts";
import { of } from "./select.ts";

/** What only agents' own telemetry says. Empty where no machine receives it. */
export const native = {
  modelCalls: (): Builder<Panel> =>
    table({
      title: "Time to the first token",
      description:
        "From a request to the first part of the answer; requests that were sent again; answers that the model refused. As the agents measured it, on machines with `enable --native`. The histogram ends at 82 s.",
      todo: "If p95 grows for all agents of a model, it is the provider; many retries are limits or a bad network.",
      width: 24,
      height: 6,
      noValue: "none reported",
      by: BY_MODEL,
      columns: [
        { name: "Calls", expr: exactSum(of.firstToken("_count"), MODEL), unit: UNIT.count },
        ...percentiles("openhook.native.time_to_first_chunk", of.firstToken("_bucket"), MODEL),
        { name: "Retries", expr: exactSum(of.retries(), MODEL), unit: UNIT.count },
        { name: "Refusals", expr: exactSum(of.refusals(), MODEL), unit: UNIT.count },
      ],
      links: [toSessions("Sessions of this agent", AGENT)],
    }),
  permissions: (): Builder<Panel> =>
    table({
      title: "Waits for permission",
      description:
        "How long tool calls waited, by who decided in the agent's word, and how many were allowed and denied. Only decisions whose wait the agent measured, on machines with `enable --native`.",
      todo: "Where people wait long and allow nearly everything, allow the tool in the agent's settings.",
      width: 24,
      height: 6,
      noValue: "none reported",
      by: [
        ["tool", "Tool"],
        ["agent", "Agent"],
        ["decidedBy", "Decided by"],
      ],
      columns: [
        { name: "Decisions", expr: exactSum(of.permissionWait("_count"), DECIDED), unit: UNIT.count },
        ...["allow", "deny"].map((decision) => ({
          name: decision === "allow" ? "Allowed" : "Denied",
          expr: orZero(decisions(`="${decision}"`), decisions('!=""')),
          unit: UNIT.count,
        })),
        ...percentiles("openhook.permission.wait", of.permissionWait("_bucket"), DECIDED),
      ],
      links: [toSessions("Failed and slow calls of this tool", { tool: put("__data.fields.Tool"), ...AGENT })],
    }),
  cost: (): Builder<Panel> =>
    table({
      title: "Cost that agents report",
      description:
        "What agents say in their own telemetry that calls cost, beside what openhook-otel computes for all calls of the model, in all repositories. Only agents that report it, on machines with `enable --native`; never part of other sums.",
      todo: "Less is reported if telemetry of some calls is missing. If more is, compare prices: `openhook-otel reconcile --native` on a machine names the sessions.",
      width: 24,
      height: 6,
      noValue: "none reported",
      by: BY_MODEL,
      columns: [
        { name: "Reported", expr: exactSum(of.reportedCost(), MODEL), unit: UNIT.usd, decimals: 3 },
        {
          name: "Computed",
          expr: `${exactSum(of.costOfModels(), MODEL)} and ${exactSum(of.reportedCost(), MODEL)}`,
          unit: UNIT.usd,
          decimals: 3,
          noValue: "unknown",
        },
      ],
      links: [
        onlyThis("Only this model", "cost", { model: put("__data.fields.Model") }),
        toSessions("Sessions of this agent", AGENT),
      ],
    }),
} as const;

// --- internal ---

const MODEL: readonly LabelKey[] = ["model", "agent"];
const BY_MODEL = [
  ["model", "Model"],
  ["agent", "Agent"],
] as const;
const DECIDED: readonly LabelKey[] = ["tool", "agent", "decidedBy"];
const AGENT = { agent: put("__data.fields.Agent") };

/** Agents can report a wait without the decision. */
const decisions = (matched: string): string =>
  exactSum(of.permissionWait("_count", `${LABEL.decision}${matched}`), DECIDED);

const percentiles = (metric: string, bucket: string, by: readonly LabelKey[]): readonly Column[] =>
  [0.5, 0.95].map((q) => ({ name: `p${q * 100}`, ...measure.percentile(q, metric, bucket, by) }));
