import type { Dashboard } from "@grafana/grafana-foundation-sdk/dashboard";
import { dashboardOf, type Panels, withRows } from "./dashboard.ts";
import { labelOf, onlyThis, put, toDashboard, toSessions, UID } from "./links.ts";
import { marks } from "./marks.ts";
import { measure, orZero } from "./measures.ts";
import { native } from "./native.ts";
import { bars, lines, ranking, stat, table, UNIT } from "./panels.ts";
import { exactSum, LABEL, type LabelKey, NO_MODEL, NO_REPOSITORY, named, quantile, ratio } from "./promql.ts";
import { of } from "./select.ts";
import { branches } from "./traces.ts";
import { variable } from "./variables.ts";

/** Where the tokens and the money go. */
export const costAndTokens = (): Dashboard =>
  withRows(
    dashboardOf({
      title: "cost and tokens",
      uid: UID.cost,
      description:
        "Cost at list price and tokens by repository, branch, model and agent; budget; subagents' share; calls without a known price.",
      refresh: "15m",
      marks: marks(),
      variables: [
        variable.datasource(),
        variable.tempo(),
        variable.agent(),
        variable.environment(),
        variable.repository(),
        variable.model(),
        variable.window(),
        variable.series(),
      ],
    }),
    {
      "In this time range": inRange(),
      Budget: budget(),
      "By repository and branch": byRepository(),
      "By model and agent": byModel(),
      "Cache and context": cacheAndContext(),
    },
  ).build();

// --- internal ---

const inRange = (): Panels => [
  stat({
    title: "Cost",
    description: "List price in US dollars of model calls with a known price.",
    todo: "If it surprises you, look for the repository and the model that grew, below.",
    unit: UNIT.usd,
    decimals: 2,
    width: 4,
    noValue: "unknown",
    expr: exactSum(of.cost()),
    links: SESSIONS,
  }),
  stat({
    title: "Calls with a known price",
    description: "Share of all model calls. Below 100 % the cost is a lower bound.",
    todo: "Give the missing models a price with prices.file.",
    unit: UNIT.share,
    decimals: 1,
    width: 4,
    steps: [
      ["orange", null],
      ["green", 1],
    ],
    expr: pricedShare([]),
    links: SESSIONS,
  }),
  stat({
    title: "Cost per session",
    description: "Cost divided by ended sessions, including those of agents that report no tokens.",
    todo: "If it rises, look for longer sessions, a more expensive model, or fewer cache hits.",
    unit: UNIT.usd,
    decimals: 3,
    width: 4,
    noValue: "unknown",
    expr: ratio(exactSum(of.cost()), exactSum(of.sessions())),
    links: SESSIONS,
  }),
  stat({
    title: "Subagents' share of the cost",
    description: "Cost of subagents' model calls as a share of all cost.",
    todo: "If it is high, check whether subagents need the expensive model.",
    unit: UNIT.share,
    decimals: 1,
    width: 4,
    noValue: "unknown",
    expr: ratio(orZero(exactSum(of.cost(`${LABEL.subagent}="true"`)), exactSum(of.cost())), exactSum(of.cost())),
    links: SESSIONS,
  }),
  stat({
    title: "Input tokens",
    description: "Cached tokens included.",
    todo: "Large contexts cost with every call: begin new sessions for new tasks.",
    unit: UNIT.tokens,
    decimals: 2,
    width: 4,
    expr: exactSum(of.tokens("input")),
    links: SESSIONS,
  }),
  stat({
    title: "Output tokens",
    description: "Reasoning tokens included.",
    todo: "Output is the most expensive kind: look for files that are rewritten instead of edited.",
    unit: UNIT.tokens,
    decimals: 2,
    width: 4,
    expr: exactSum(of.tokens("output")),
    links: SESSIONS,
  }),
];

const budget = (): Panels => [
  table({
    title: "Budgets",
    description:
      "Spending on each budget in rules/budgets.yaml, from the recording rules. The pace is what 30 days like the last seven would spend. 100 % of a day's share every day spends exactly the budget in 30 days.",
    todo: "Near 100 %, agree on a cheaper model or raise the budget in rules/budgets.yaml.",
    width: 12,
    height: 6,
    noValue: "no budget is set",
    by: [["budget", "Budget"]],
    columns: [
      { name: "Budget for 30 days", expr: `max by (budget) (${BUDGET})`, unit: UNIT.usd, decimals: 0 },
      {
        name: "Spent in 30 days",
        expr: `max by (budget) (${BUDGET} * on (budget) group_right () ${SPENT}30d)`,
        unit: UNIT.usd,
        decimals: 2,
      },
      {
        name: "Used",
        expr: `max by (budget) (${SPENT}30d)`,
        unit: UNIT.share,
        decimals: 1,
        steps: [
          ["green", null],
          ["orange", 0.8],
          ["red", 1],
        ],
      },
      {
        name: "At the pace of 7 days",
        expr: `30 / 7 * max by (budget) (${SPENT}7d)`,
        unit: UNIT.share,
        decimals: 0,
        steps: [
          ["green", null],
          ["orange", 1],
          ["red", 1.5],
        ],
      },
      {
        name: "A day's share, last 24 h",
        expr: `30 * max by (budget) (${SPENT}1d)`,
        unit: UNIT.share,
        decimals: 0,
        steps: [
          ["green", null],
          ["orange", 1.5],
          ["red", 3],
        ],
      },
    ],
  }),
  bars({
    title: "Cost by repository",
    description: "US dollars at list price in each interval.",
    todo: "Choose a bar to see its sessions.",
    unit: UNIT.usd,
    width: 12,
    height: 6,
    queries: [
      {
        expr: named("repository", NO_REPOSITORY, exactSum(of.cost(), ["repository"], "$__interval")),
        legend: `{{${LABEL.repository}}}`,
      },
    ],
    links: [toSessions("Sessions in this repository", { repository: labelOf(LABEL.repository) })],
  }),
];

const byRepository = (): Panels => [
  table({
    title: "Repositories",
    description: "“unknown”: no model used there has a known price.",
    todo: "Choose a repository to see its sessions.",
    width: 14,
    height: 9,
    by: [["repository", "Repository"]],
    columns: columns(["repository"]),
    sortBy: "Input tokens",
    links: [toSessions("Sessions in this repository", { repository: put("__data.fields.Repository") })],
  }),
  branches(),
];

const byModel = (): Panels => [
  bars({
    title: "Cost by model",
    description:
      "US dollars at list price in each interval. Models without a known price are not included; see the table below.",
    todo: "If an expensive model does routine work, change the default in the agent's settings.",
    unit: UNIT.usd,
    width: 12,
    queries: [{ expr: exactSum(of.cost(), ["model"], "$__interval"), legend: `{{${LABEL.model}}}` }],
    links: [onlyThis("Only this model", "cost", { model: labelOf(LABEL.model) })],
  }),
  bars({
    title: "Tokens by kind",
    description: "Input is split into cache reads, cache writes and the rest, so that no token counts twice.",
    todo: "Input that is not cached costs up to ten times as much: keep prompts and tool lists stable.",
    unit: UNIT.tokens,
    width: 12,
    queries: measure.tokensByKind(),
  }),
  table({
    title: "Models",
    description: "By requested model and agent.",
    todo: "Compare the cost per call, and the cache hits of models with the same work.",
    width: 24,
    height: 10,
    by: [
      ["model", "Model"],
      ["agent", "Agent"],
    ],
    columns: [
      ...columns(["model", "agent"]),
      {
        name: "Cache read",
        expr: exactSum(of.tokens("cache_read"), ["model", "agent"]),
        unit: UNIT.count,
        noValue: "not reported",
      },
      {
        name: "Cache write",
        expr: exactSum(of.tokens("cache_write"), ["model", "agent"]),
        unit: UNIT.count,
        noValue: "not reported",
      },
      {
        name: "Reasoning",
        expr: exactSum(of.tokens("reasoning"), ["model", "agent"]),
        unit: UNIT.count,
        noValue: "not reported",
      },
      {
        name: "Cache hits",
        expr: measure.cacheHit(["model", "agent"]),
        unit: UNIT.share,
        decimals: 1,
        noValue: "not reported",
      },
    ],
    sortBy: "Input tokens",
    links: [
      onlyThis("Only this model", "cost", { model: put("__data.fields.Model") }),
      toSessions("Sessions of this agent", { agent: put("__data.fields.Agent") }),
    ],
  }),
  native.cost(),
  table({
    title: "Subagents and main agent",
    description: "Model calls of subagents and of the main agent.",
    todo: "Expensive subagents can use a smaller model in most agents.",
    width: 12,
    by: [
      ["agent", "Agent"],
      ["subagent", "Subagent"],
    ],
    columns: columns(["agent", "subagent"]),
    sortBy: "Input tokens",
    links: [toSessions("Sessions of this agent", { agent: put("__data.fields.Agent") })],
  }),
  ranking({
    title: "Calls without a price, by model",
    description:
      "Models that are not in the price table, or calls without reported usage. Their cost is unknown, not 0.",
    todo: "Add these models to prices.file, or update openhook-otel.",
    unit: UNIT.count,
    width: 12,
    noValue: "none: every call has a price",
    expr: named("model", NO_MODEL, `sort_desc(${exactSum(of.unpriced(), ["model"])} > 0)`),
    legend: `{{${LABEL.model}}}`,
    links: [onlyThis("Only this model", "cost", { model: labelOf(LABEL.model) })],
  }),
];

const cacheAndContext = (): Panels => [
  bars({
    title: "Not read from the cache, by reason",
    description:
      "Input tokens in each interval that the provider could not read from its cache, by the reason that it gave. Only Claude Code records it; misses for which nobody gave a reason are not included.",
    todo: "tools_changed: connect MCP servers before a session starts. model_changed: one model per session. `openhook-otel insights` on a machine names the sessions.",
    unit: UNIT.tokens,
    width: 12,
    queries: [
      {
        expr: exactSum(of.cacheMisses(), ["missCause"], "$__interval"),
        legend: `{{${LABEL.missCause}}}`,
      },
    ],
  }),
  lines({
    title: "Size of the context",
    description:
      "Median and 95th percentile of the input tokens of a call, by agent, over the six hours before each point.",
    todo: "Every call reads all of it: begin new sessions for new tasks, or compact earlier.",
    unit: UNIT.tokens,
    width: 12,
    queries: [0.5, 0.95].map((q) => ({
      expr: `${quantile(q, of.context("_bucket"), ["agent"], "6h")} >= 0`,
      legend: `{{${LABEL.agent}}} p${q * 100}`,
    })),
  }),
  table({
    title: "Compactions",
    description: "How often agents shortened a context, and how large contexts were at a call on average.",
    todo: "Compactions cost a prompt of their own and an empty cache: smaller tasks need none.",
    width: 24,
    height: 6,
    by: [["agent", "Agent"]],
    columns: [
      { name: "Compactions", expr: exactSum(of.compactions(), ["agent"]), unit: UNIT.count },
      {
        name: "Mean context",
        expr: ratio(exactSum(of.context("_sum"), ["agent"]), exactSum(of.context("_count"), ["agent"])),
        unit: UNIT.tokens,
        decimals: 1,
        noValue: "not reported",
      },
      {
        name: "Not read from the cache",
        expr: exactSum(of.cacheMisses(), ["agent"]),
        unit: UNIT.tokens,
        decimals: 1,
        noValue: "not reported",
      },
    ],
    sortBy: "Mean context",
    links: [toSessions("Sessions of this agent", { agent: put("__data.fields.Agent") })],
  }),
];

const SESSIONS = [toDashboard("The sessions", "sessions")];

const BUDGET = "openhook:budget_usd";
const SPENT = "openhook:budget_spent:ratio_";

/** Calls with and without a price are disjoint, and add up to all calls. */
function pricedShare(by: readonly LabelKey[]): string {
  const unpriced = exactSum(of.unpriced(), by);
  const calls = exactSum(of.modelCalls(), by);
  return `1 - ${ratio(orZero(unpriced, calls), calls)}`;
}

function columns(by: readonly LabelKey[]) {
  return [
    { name: "Cost", expr: exactSum(of.cost(), by), unit: UNIT.usd, decimals: 3, noValue: "unknown" },
    { name: "Without a price", expr: exactSum(of.unpriced(), by), unit: UNIT.count },
    { name: "Calls", expr: exactSum(of.modelCalls(), by), unit: UNIT.count },
    { name: "Input tokens", expr: exactSum(of.tokens("input"), by), unit: UNIT.count },
    { name: "Output tokens", expr: exactSum(of.tokens("output"), by), unit: UNIT.count },
  ] as const;
}
