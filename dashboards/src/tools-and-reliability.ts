import type { Dashboard } from "@grafana/grafana-foundation-sdk/dashboard";
import { dashboardOf, type Panels, withRows } from "./dashboard.ts";
import { type Link, labelOf, put, toDashboard, toSessions, UID } from "./links.ts";
import { marks } from "./marks.ts";
import { measure, orZero } from "./measures.ts";
import { native } from "./native.ts";
import { bars, type Column, lines, ranking, stat, table, UNIT } from "./panels.ts";
import { exactSum, LABEL, type LabelKey, labels, mostUsed, quantile, ratio } from "./promql.ts";
import { of } from "./select.ts";
import { variable } from "./variables.ts";
import { versions } from "./versions.ts";

/** Which tools are slow or fail, and how calls, turns and sessions end. */
export const toolsAndReliability = (): Dashboard =>
  withRows(
    dashboardOf({
      title: "tools and reliability",
      uid: UID.tools,
      description:
        "Durations and error rates by tool, MCP server and agent; time to the first token; waits for permission; retries; denied and unfinished calls; how turns and sessions end.",
      refresh: "5m",
      marks: marks(),
      variables: [
        variable.datasource(),
        variable.agent(),
        variable.environment(),
        variable.repository(),
        variable.tool(),
        variable.compared(),
        variable.version(),
        variable.before(),
        variable.series(),
      ],
    }),
    {
      "In this time range": inRange(),
      Tools: tools(),
      "Model latency": latency(),
      "From the agents' own telemetry": [native.modelCalls(), native.permissions()],
      "Rate limits": rateLimits(),
      "Over time": overTime(),
      "Turns, sessions, providers": turns(),
      "Before and after a version": versions(),
    },
  ).build();

// --- internal ---

const inRange = (): Panels => [
  stat({
    title: "Tool calls",
    description: "All tool calls, with any outcome.",
    todo: "Compare with turns: many calls per turn can be a loop.",
    unit: UNIT.count,
    width: 4,
    expr: exactSum(of.tools()),
    links: [toDashboard("The sessions", "sessions")],
  }),
  stat({
    title: "Errors",
    description: "Failed tool calls as a share of those that ran.",
    todo: "The table below shows which tool; its sessions show why.",
    unit: UNIT.share,
    decimals: 1,
    width: 4,
    steps: [
      ["green", null],
      ["orange", 0.05],
      ["red", 0.2],
    ],
    expr: measure.toolErrors(),
    links: [toDashboard("The sessions", "sessions")],
  }),
  stat({
    title: "Denied",
    description: "Tool calls refused by a user or a rule. They never ran and are not tool errors.",
    todo: "If many are harmless, allow them in the agent's settings; people wait for each.",
    unit: UNIT.count,
    width: 4,
    expr: measure.toolsWith("denied"),
    links: [toDashboard("The sessions", "sessions")],
  }),
  stat({
    title: "Unfinished",
    description:
      "Tool calls without a reported end: the session was killed, or continued without them. Neither success nor error.",
    todo: "If it rises, look for agents that hang or are killed: session explorer, ended by timeout.",
    unit: UNIT.count,
    width: 4,
    expr: measure.toolsWith("unfinished"),
    links: [toDashboard("The sessions", "sessions")],
  }),
  stat({
    title: "Failed model calls",
    description: "Calls that a provider refused or interrupted, retried ones included.",
    todo: "“Failed model calls by error” below shows whether the provider, a limit or a key is the reason.",
    unit: UNIT.count,
    width: 4,
    expr: orZero(exactSum(of.modelErrors()), exactSum(of.modelCallsOfAgents())),
  }),
  stat({
    title: "Failed per answered call",
    description: "Failed model calls divided by answered ones. 0.1 means one retry per ten calls.",
    todo: "Above 5 %, check the provider's status and your rate limits.",
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
];

const tools = (): Panels => [
  table({
    title: "Tools",
    description:
      "Durations from start to end, including waiting for permission; only calls that ran. The histogram ends at 82 s, as the conventions define it; the mean has no limit.",
    todo: "Begin with tools that are used often and fail often; choose one to see its calls.",
    width: 24,
    height: 10,
    by: [
      ["tool", "Tool"],
      ["agent", "Agent"],
    ],
    columns: columns(["tool", "agent"]),
    links: [
      toSessions("Failed and slow calls of this tool", {
        tool: put("__data.fields.Tool"),
        agent: put("__data.fields.Agent"),
      }),
    ],
  }),
  table({
    title: "MCP servers",
    description: "Tool calls by MCP server.",
    todo: "A server with many errors is down, or its login expired; a slow one delays every turn. `openhook-otel report mcp` on a machine shows the cost of the model calls that follow, and servers that nobody uses.",
    width: 24,
    height: 6,
    noValue: "–",
    by: [
      ["mcpServer", "MCP server"],
      ["agent", "Agent"],
    ],
    columns: columns(["mcpServer", "agent"], `${LABEL.mcpServer}!=""`),
    links: OF_AGENT,
  }),
  table({
    title: "Skills",
    description:
      "How often a tool call loaded each skill. Skills that the model reads with a shell or as a file are not included.",
    todo: "A skill with many errors does not exist under that name. `openhook-otel report skill` on a machine shows the cost of the model calls that follow, and skills that nobody loads.",
    width: 24,
    height: 6,
    noValue: "–",
    by: [
      ["skill", "Skill"],
      ["agent", "Agent"],
    ],
    columns: outcomes(["skill", "agent"], `${LABEL.skill}!=""`),
    links: OF_AGENT,
  }),
  table({
    title: "Agents",
    description: "All tools of an agent together.",
    todo: "An agent that differs much from the others has a broken tool or stricter permissions.",
    width: 24,
    height: 8,
    by: [["agent", "Agent"]],
    columns: columns(["agent"]),
    links: OF_AGENT,
  }),
];

const latency = (): Panels => [
  table({
    title: "Model latency",
    description:
      "From the request to the last record of the answer, for agents that report single calls. The histogram ends at 82 s; the mean has no limit.",
    todo: "If one model is slow for all agents, it is the provider; if for one agent, its contexts are large.",
    width: 12,
    by: [
      ["model", "Model"],
      ["agent", "Agent"],
    ],
    columns: [
      { name: "Calls", expr: exactSum(of.modelDuration("_count"), MODEL), unit: UNIT.count },
      { name: "Mean", expr: mean(of.modelDuration("_sum"), of.modelDuration("_count"), MODEL), ...SECONDS },
      ...([0.5, 0.95, 0.99] as const).map((q) => ({
        name: `p${q * 100}`,
        ...measure.percentile(q, "gen_ai.client.inference.duration", of.modelDuration("_bucket"), MODEL),
      })),
    ],
    links: OF_AGENT,
  }),
  lines({
    title: "95th percentile of latency by model",
    description:
      "Over the six hours before each point; the ten most used models. The highest value that can be shown is 82 s.",
    todo: "If it rises for all models of a provider, see the provider's status; agents wait longest for this.",
    unit: UNIT.seconds,
    width: 12,
    queries: [
      {
        expr: mostUsed(
          "model",
          of.modelDuration("_count"),
          `${quantile(0.95, of.modelDuration("_bucket"), ["model"], "6h")} >= 0`,
        ),
        legend: `{{${LABEL.model}}}`,
      },
    ],
  }),
];

const rateLimits = (): Panels => [
  table({
    title: "Rate limits",
    description:
      "The highest used share of a subscription's limits on any machine, by agent, until the reset. Only agents that report limits, with accounts that have some; a limit that was reset since is not shown.",
    todo: "Near 100 %, move work to another time or model, or ask for a larger plan.",
    width: 12,
    noValue: "no limits reported",
    by: [
      ["agent", "Agent"],
      ["rateWindow", "Window"],
    ],
    columns: [
      {
        name: "Used at most",
        expr: `max by (${labels(LIMIT)}) (${USED_NOW})`,
        unit: UNIT.share,
        decimals: 0,
        steps: [
          ["green", null],
          ["orange", 0.8],
          ["red", 1],
        ],
      },
      { name: "Machines from 80 %", expr: `sum by (${labels(LIMIT)}) (${USED_NOW} >= bool 0.8)`, unit: UNIT.count },
      {
        name: "Next reset in",
        expr: `min by (${labels(LIMIT)}) (${UNTIL_RESET})`,
        unit: UNIT.seconds,
        decimals: 0,
      },
    ],
    sortBy: "Used at most",
    links: OF_AGENT,
  }),
  lines({
    title: "Used share of rate limits",
    description: "The highest on any machine, as reported in the hour before each point.",
    todo: "Peaks at 100 % are times in which people waited.",
    unit: UNIT.share,
    decimals: 0,
    width: 12,
    queries: [
      {
        expr: `max by (${labels(LIMIT)}) (last_over_time(${of.rateLimit("usage")}[1h]))`,
        legend: `{{${LABEL.agent}}} {{${LABEL.rateWindow}}}`,
      },
    ],
  }),
];

const overTime = (): Panels => [
  bars({
    title: "Tool calls by outcome",
    description: "Tool calls in each interval by outcome.",
    todo: "If the share of errors grows, find the tool in the next panel.",
    unit: UNIT.count,
    decimals: 0,
    width: 8,
    queries: [{ expr: exactSum(of.tools(), ["toolStatus"], "$__interval"), legend: `{{${LABEL.toolStatus}}}` }],
  }),
  lines({
    title: "Error rate by tool",
    description: "Calls that ran in the six hours before each point; the ten most used tools.",
    todo: "A jump is usually a broken build, a server that is down, or a changed tool.",
    unit: UNIT.share,
    width: 8,
    max: 1,
    queries: [{ expr: mostUsed("tool", of.tools(), measure.toolErrors(["tool"], "6h")), legend: `{{${LABEL.tool}}}` }],
    links: [toSessions("Failed and slow calls of this tool", { tool: labelOf(LABEL.tool) })],
  }),
  lines({
    title: "95th percentile of duration by tool",
    description: "Over the six hours before each point; the ten most used tools.",
    todo: "If a tool becomes slower, look at its slowest calls in the session explorer.",
    unit: UNIT.seconds,
    width: 8,
    queries: [
      {
        expr: mostUsed("tool", of.tools(), `${quantile(0.95, of.toolDuration("_bucket"), ["tool"], "6h")} >= 0`),
        legend: `{{${LABEL.tool}}}`,
      },
    ],
    links: [toSessions("Failed and slow calls of this tool", { tool: labelOf(LABEL.tool) })],
  }),
];

const turns = (): Panels => [
  table({
    title: "Turn duration",
    description: "From the prompt to the agent's last answer; subagents included.",
    todo: "If p95 grows, look for loops and slow tools in the longest traces.",
    width: 12,
    by: [["agent", "Agent"]],
    columns: [
      { name: "Runs", expr: exactSum(of.turnDuration("_count"), ["agent"]), unit: UNIT.count },
      { name: "p50", expr: quantile(0.5, of.turnDuration("_bucket"), ["agent"]), unit: UNIT.seconds, decimals: 1 },
      { name: "p95", expr: quantile(0.95, of.turnDuration("_bucket"), ["agent"]), unit: UNIT.seconds, decimals: 1 },
      { name: "Compactions", expr: exactSum(of.compactions(), ["agent"]), unit: UNIT.count },
    ],
    links: OF_AGENT,
  }),
  table({
    title: "Turn outcomes",
    description:
      "ended: reported by the agent. unfinished: the session ended or continued without a reported end. A rising number of these indicates stuck sessions.",
    todo: "Look at sessions that ended by timeout: their last span shows where they stopped.",
    width: 12,
    by: [
      ["agent", "Agent"],
      ["turnState", "State"],
    ],
    columns: [{ name: "Turns", expr: exactSum(of.sessionTurns(), ["agent", "turnState"]), unit: UNIT.count }],
    links: OF_AGENT,
  }),
  ranking({
    title: "Failed model calls by error",
    description: "By the provider's error name, retried ones included.",
    todo: "rate_limit: fewer parallel agents or a higher limit. overloaded: the provider; wait. authentication: renew the key.",
    unit: UNIT.count,
    width: 12,
    noValue: "none",
    expr: `sort_desc(${exactSum(of.modelErrors(), ["agent", "errorType"])} > 0)`,
    legend: `{{${LABEL.agent}}}: {{${LABEL.errorType}}}`,
    links: [toSessions("Sessions of this agent", { agent: labelOf(LABEL.agent) })],
  }),
  ranking({
    title: "Session outcomes",
    description: "timeout: no events for session.idleTimeoutMs, so openhook-otel ended it: killed, or left open.",
    todo: "Many timeouts: people leave sessions open, or agents hang.",
    unit: UNIT.count,
    width: 12,
    expr: `sort_desc(${exactSum(of.sessions(), ["agent", "endReason"])} > 0)`,
    legend: `{{${LABEL.agent}}}: {{${LABEL.endReason}}}`,
    links: [toSessions("Sessions of this agent", { agent: labelOf(LABEL.agent) })],
  }),
];

/** From a row to the sessions of its agent. */
const OF_AGENT: readonly Link[] = [toSessions("Sessions of this agent", { agent: put("__data.fields.Agent") })];

const LIMIT: readonly LabelKey[] = ["agent", "rateWindow"];
/** Time to the reset of each limit that was not reset yet. Its last report can be as old as its window. */
const UNTIL_RESET = `(last_over_time(${of.rateLimit("reset.time")}[7d]) - time() > 0)`;
const USED_NOW = `(last_over_time(${of.rateLimit("usage")}[7d]) and ${UNTIL_RESET})`;

const MODEL: readonly LabelKey[] = ["model", "agent"];
const SECONDS = { unit: UNIT.seconds, decimals: 2 } as const;

const mean = (sum: string, count: string, by: readonly LabelKey[]): string =>
  ratio(exactSum(sum, by), exactSum(count, by));

function columns(by: readonly LabelKey[], more = ""): readonly Column[] {
  const duration = (q: number) =>
    measure.percentile(q, "gen_ai.execute_tool.duration", of.toolDuration("_bucket", more), by);
  return [
    ...outcomes(by, more),
    { name: "Mean", expr: mean(of.toolDuration("_sum", more), of.toolDuration("_count", more), by), ...SECONDS },
    { name: "p50", ...duration(0.5) },
    { name: "p95", ...duration(0.95) },
    { name: "p99", ...duration(0.99) },
  ];
}

/** How calls ended. */
function outcomes(by: readonly LabelKey[], more: string): readonly Column[] {
  const calls = exactSum(of.tools(more), by);
  const withStatus = (status: string): string =>
    orZero(exactSum(of.tools([`${LABEL.toolStatus}="${status}"`, more].filter(Boolean).join(", ")), by), calls);
  const ran = exactSum(of.tools([`${LABEL.toolStatus}=~"success|error"`, more].filter(Boolean).join(", ")), by);
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
  ];
}
