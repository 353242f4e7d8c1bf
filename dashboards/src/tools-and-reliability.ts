import { type Dashboard, DashboardBuilder, RowBuilder } from "@grafana/grafana-foundation-sdk/dashboard";
import { put, siblings, TAG, toSessions, UID } from "./links.ts";
import { measure, orZero } from "./measures.ts";
import { bars, type Column, lines, ranking, stat, table, UNIT } from "./panels.ts";
import { exactSum, LABEL, type LabelKey, mostUsed, quantile, ratio } from "./promql.ts";
import { of } from "./select.ts";
import { variable } from "./variables.ts";

/** Which tools are slow or fail, and how calls, turns and sessions end. */
export const toolsAndReliability = (): Dashboard =>
  new DashboardBuilder("Coding agents: tools and reliability")
    .uid(UID.tools)
    .description(
      "Durations and error rates by tool, MCP server and agent; retries; denied and unfinished calls; how turns and sessions end.",
    )
    .tags([TAG])
    .time({ from: "now-24h", to: "now" })
    .timezone("browser")
    .refresh("5m")
    .link(siblings())
    .variables([
      variable.datasource(),
      variable.agent(),
      variable.environment(),
      variable.repository(),
      variable.tool(),
      variable.series(),
    ])
    .withRow(new RowBuilder("In this time range"))
    .withPanel(
      stat({
        title: "Tool calls",
        description: "All tool calls, with any outcome.",
        unit: UNIT.count,
        width: 4,
        expr: exactSum(of.tools()),
      }),
    )
    .withPanel(
      stat({
        title: "Errors",
        description: "Failed tool calls as a share of those that ran.",
        unit: UNIT.share,
        decimals: 1,
        width: 4,
        steps: [
          ["green", null],
          ["orange", 0.05],
          ["red", 0.2],
        ],
        expr: measure.toolErrors(),
      }),
    )
    .withPanel(
      stat({
        title: "Denied",
        description: "Tool calls refused by a user or a rule. They never ran and are not tool errors.",
        unit: UNIT.count,
        width: 4,
        expr: measure.toolsWith("denied"),
      }),
    )
    .withPanel(
      stat({
        title: "Unfinished",
        description:
          "Tool calls without a reported end: the session was killed, or continued without them. Neither success nor error.",
        unit: UNIT.count,
        width: 4,
        expr: measure.toolsWith("unfinished"),
      }),
    )
    .withPanel(
      stat({
        title: "Failed model calls",
        description: "Calls that a provider refused or interrupted, retried ones included.",
        unit: UNIT.count,
        width: 4,
        expr: orZero(exactSum(of.modelErrors()), exactSum(of.modelCallsOfAgents())),
      }),
    )
    .withPanel(
      stat({
        title: "Failed per answered call",
        description: "Failed model calls divided by answered ones. 0.1 means one retry per ten calls.",
        unit: UNIT.share,
        decimals: 2,
        width: 4,
        steps: [
          ["green", null],
          ["orange", 0.05],
          ["red", 0.2],
        ],
        expr: ratio(
          orZero(exactSum(of.modelErrors()), exactSum(of.modelCallsOfAgents())),
          exactSum(of.modelCallsOfAgents()),
        ),
      }),
    )
    .withRow(new RowBuilder("Tools"))
    .withPanel(
      table({
        title: "Tools",
        description:
          "Durations from start to end, including waiting for permission; only calls that ran. Above 82 s a percentile is shown as 82 s.",
        width: 24,
        height: 10,
        by: [
          ["tool", "Tool"],
          ["agent", "Agent"],
        ],
        columns: columns(["tool", "agent"]),
        links: [toSessions("Sessions of this agent", { agent: put("__data.fields.Agent") })],
      }),
    )
    .withPanel(
      table({
        title: "MCP servers",
        description: "Tool calls by MCP server.",
        width: 24,
        height: 6,
        noValue: "–",
        by: [
          ["mcpServer", "MCP server"],
          ["agent", "Agent"],
        ],
        columns: columns(["mcpServer", "agent"], `${LABEL.mcpServer}!=""`),
      }),
    )
    .withPanel(
      table({
        title: "Agents",
        description: "All tools of an agent together.",
        width: 24,
        height: 8,
        by: [["agent", "Agent"]],
        columns: columns(["agent"]),
        links: [toSessions("Sessions of this agent", { agent: put("__data.fields.Agent") })],
      }),
    )
    .withRow(new RowBuilder("Over time"))
    .withPanel(
      bars({
        title: "Tool calls by outcome",
        description: "Tool calls in each interval by outcome.",
        unit: UNIT.count,
        decimals: 0,
        width: 8,
        queries: [{ expr: exactSum(of.tools(), ["toolStatus"], "$__interval"), legend: `{{${LABEL.toolStatus}}}` }],
      }),
    )
    .withPanel(
      lines({
        title: "Error rate by tool",
        description: "Calls that ran in the six hours before each point; the ten most used tools.",
        unit: UNIT.share,
        width: 8,
        max: 1,
        queries: [
          { expr: mostUsed("tool", of.tools(), measure.toolErrors(["tool"], "6h")), legend: `{{${LABEL.tool}}}` },
        ],
      }),
    )
    .withPanel(
      lines({
        title: "95th percentile of duration by tool",
        description: "Over the six hours before each point; the ten most used tools.",
        unit: UNIT.seconds,
        width: 8,
        queries: [
          {
            expr: mostUsed("tool", of.tools(), `${quantile(0.95, of.toolDuration("_bucket"), ["tool"], "6h")} >= 0`),
            legend: `{{${LABEL.tool}}}`,
          },
        ],
      }),
    )
    .withRow(new RowBuilder("Turns, sessions, providers"))
    .withPanel(
      table({
        title: "Turn duration",
        description: "From the prompt to the agent's last answer; subagents included.",
        width: 12,
        by: [["agent", "Agent"]],
        columns: [
          { name: "Runs", expr: exactSum(of.turnDuration("_count"), ["agent"]), unit: UNIT.count },
          { name: "p50", expr: quantile(0.5, of.turnDuration("_bucket"), ["agent"]), unit: UNIT.seconds, decimals: 1 },
          { name: "p95", expr: quantile(0.95, of.turnDuration("_bucket"), ["agent"]), unit: UNIT.seconds, decimals: 1 },
          { name: "Compactions", expr: exactSum(of.compactions(), ["agent"]), unit: UNIT.count },
        ],
      }),
    )
    .withPanel(
      table({
        title: "Turn outcomes",
        description:
          "ended: reported by the agent. unfinished: the session ended or continued without a reported end. A rising number of these indicates stuck sessions.",
        width: 12,
        by: [
          ["agent", "Agent"],
          ["turnState", "State"],
        ],
        columns: [{ name: "Turns", expr: exactSum(of.sessionTurns(), ["agent", "turnState"]), unit: UNIT.count }],
      }),
    )
    .withPanel(
      ranking({
        title: "Failed model calls by error",
        description: "By the provider's error name, retried ones included.",
        unit: UNIT.count,
        width: 12,
        noValue: "none",
        expr: `sort_desc(${exactSum(of.modelErrors(), ["agent", "errorType"])} > 0)`,
        legend: `{{${LABEL.agent}}}: {{${LABEL.errorType}}}`,
      }),
    )
    .withPanel(
      ranking({
        title: "Session outcomes",
        description: "timeout: no events for session.idleTimeoutMs, so openhook-otel ended it: killed, or left open.",
        unit: UNIT.count,
        width: 12,
        expr: `sort_desc(${exactSum(of.sessions(), ["agent", "endReason"])} > 0)`,
        legend: `{{${LABEL.agent}}}: {{${LABEL.endReason}}}`,
      }),
    )
    .build();

// --- internal ---

function columns(by: readonly LabelKey[], more = ""): readonly Column[] {
  const calls = exactSum(of.tools(more), by);
  const withStatus = (status: string): string =>
    orZero(exactSum(of.tools([`${LABEL.toolStatus}="${status}"`, more].filter(Boolean).join(", ")), by), calls);
  const ran = exactSum(of.tools([`${LABEL.toolStatus}=~"success|error"`, more].filter(Boolean).join(", ")), by);
  const duration = (q: number): Pick<Column, "expr" | "unit" | "decimals"> => ({
    expr: `${quantile(q, of.toolDuration("_bucket", more), by)} >= 0`,
    unit: UNIT.seconds,
    decimals: 2,
  });
  return [
    { name: "Calls", expr: calls, unit: UNIT.count },
    {
      name: "Error rate",
      expr: ratio(withStatus("error"), ran),
      unit: UNIT.share,
      decimals: 1,
      steps: [
        ["text", null],
        ["orange", 0.05],
        ["red", 0.2],
      ],
    },
    { name: "Errors", expr: withStatus("error"), unit: UNIT.count },
    { name: "Denied", expr: withStatus("denied"), unit: UNIT.count },
    { name: "Unfinished", expr: withStatus("unfinished"), unit: UNIT.count },
    { name: "p50", ...duration(0.5) },
    { name: "p95", ...duration(0.95) },
    { name: "p99", ...duration(0.99) },
  ];
}
