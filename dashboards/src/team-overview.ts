import type { Builder } from "@grafana/grafana-foundation-sdk/cog";
import type { Dashboard, Panel } from "@grafana/grafana-foundation-sdk/dashboard";
import { dashboardOf, type Panels, withRows } from "./dashboard.ts";
import { labelOf, onlyThis, put, toDashboard, toSessions, UID } from "./links.ts";
import { marks } from "./marks.ts";
import { measure, orZero } from "./measures.ts";
import { outcomes } from "./outcomes.ts";
import { bars, lines, ranking, stat, table, UNIT } from "./panels.ts";
import { change, exact, exactSum, LABEL, NO_REPOSITORY, named, ratio, soFar } from "./promql.ts";
import { of } from "./select.ts";
import { variable } from "./variables.ts";

/** What the agents of a team did, at a glance. */
export const teamOverview = (): Dashboard =>
  withRows(
    dashboardOf({
      title: "team overview",
      uid: UID.team,
      description:
        "What the agents cost and what came of it; then repositories, agents, models. Totals are exact: the same as the agents' own transcripts.",
      refresh: "5m",
      variables: [
        variable.datasource(),
        variable.agent(),
        variable.environment(),
        variable.repository(),
        variable.model(),
        variable.tool(),
        variable.series(),
      ],
      marks: marks(),
    }),
    {
      Money: money(),
      "Where it went": spent(),
      "Work, and how it changed": work(),
      Trends: trends(),
      "Agents and models": tables(),
    },
  ).build();

// --- internal ---

const money = (): Panels => [
  stat({
    title: "Cost",
    description:
      "List price in US dollars of model calls with a known price. If some calls have no price, this is a lower bound; if none has, it is “unknown”.",
    todo: "If it surprises you, choose it: “Cost by repository” and “Models” show what grew.",
    unit: UNIT.usd,
    decimals: 2,
    width: 4,
    height: 5,
    noValue: "unknown",
    expr: exactSum(of.cost()),
    links: [toDashboard("Where it went", "cost")],
  }),
  changeOf("Cost", exactSum(of.cost()), "See which repository, below.", { width: 3, height: 5, to: "cost" }),
  lines({
    title: "Cost so far",
    description:
      "The cost since the start of the time range, and the same of the period before it. The line ends at the cost.",
    todo: "If the line leaves that of the period before, find the day, then the repository below.",
    unit: UNIT.usd,
    decimals: 2,
    width: 7,
    height: 5,
    queries: [
      { expr: soFar(of.cost()), legend: "this period" },
      { expr: soFar(of.cost(), true), legend: "the period before" },
    ],
  }),
  outcomes.costPerMerged({ width: 4, height: 5, links: [toDashboard("What was merged", "people")] }),
  stat({
    title: "Budget left",
    description:
      "What is left of the 30-day budget of which the largest share was spent in the last 30 days; below 0, more was spent. From rules/budgets.yaml and the recording rules, whatever the time range and the variables.",
    todo: "Near 0, agree on a cheaper model or raise the budget.",
    unit: UNIT.share,
    decimals: 0,
    width: 3,
    height: 5,
    noValue: "no budget is set",
    steps: [
      ["red", null],
      ["orange", 0.001],
      ["green", 0.2],
    ],
    expr: `bottomk(1, 1 - max by (${LABEL.budget}) (openhook:budget_spent:ratio_30d))`,
    legend: `{{${LABEL.budget}}}`,
    links: [toDashboard("All budgets", "cost")],
  }),
  stat({
    title: "People",
    description:
      "Distinct people who prompted an agent. Needs identity.user (hash or plain) in the settings of the machines; otherwise people cannot be distinguished, and nothing is shown.",
    todo: "Use it to see adoption, not to rate anybody.",
    unit: UNIT.count,
    width: 3,
    height: 5,
    noValue: "identity is off",
    expr: activeDevelopers,
    links: [toDashboard("Cost and sessions over people", "people")],
  }),
];

const spent = (): Panels => [
  ranking({
    title: "Cost by repository",
    description: "The ten repositories that cost most, at list price.",
    todo: "Choose one to see its sessions.",
    unit: UNIT.usd,
    decimals: 2,
    width: 12,
    height: 9,
    noValue: "unknown",
    expr: named("repository", NO_REPOSITORY, `sort_desc(topk(10, ${exactSum(of.cost(), ["repository"])}))`),
    legend: `{{${LABEL.repository}}}`,
    links: [toSessions("Sessions in this repository", { repository: labelOf(LABEL.repository) })],
  }),
  bars({
    title: "Cost by agent",
    description:
      "US dollars at list price in each interval. The bars add up to the cost of the time range, except at its edges.",
    todo: "Choose a bar to see its sessions.",
    unit: UNIT.usd,
    width: 12,
    height: 9,
    queries: [{ expr: exactSum(of.cost(), ["agent"], "$__interval"), legend: `{{${LABEL.agent}}}` }],
    links: [toSessions("Sessions of this agent", { agent: labelOf(LABEL.agent) })],
  }),
];

/** Figures, and below each how it changed. */
const work = (): Panels => [
  stat({
    title: "Sessions",
    description: "Ended session segments. A resumed session counts again; an open one is not counted yet.",
    todo: "If it falls while people work as usual, look at collector health.",
    unit: UNIT.count,
    width: 4,
    expr: SESSIONS,
    links: [toDashboard("These sessions", "sessions")],
  }),
  stat({
    title: "Prompts",
    description: "Turns prompted by a human, without those that agents started themselves.",
    todo: "Few prompts and many tool calls mean long runs on their own: check their cost.",
    unit: UNIT.count,
    width: 4,
    expr: PROMPTS,
    links: [toDashboard("The sessions", "sessions")],
  }),
  stat({
    title: "Cost per session",
    description: "Cost divided by ended sessions, including those of agents that report no tokens.",
    todo: "If it rises, look for longer sessions, other models, or fewer cache hits.",
    unit: UNIT.usd,
    decimals: 2,
    width: 4,
    noValue: "unknown",
    expr: COST_PER_SESSION,
    links: [toDashboard("The sessions", "sessions")],
  }),
  stat({
    title: "Cache hit ratio",
    description: "Cache reads as a share of all input tokens. Models that do not report cache reads are left out.",
    todo: "Below a half, look for prompts or tool lists that change from call to call.",
    unit: UNIT.share,
    decimals: 1,
    width: 4,
    noValue: "not reported",
    steps: [
      ["orange", null],
      ["green", 0.5],
    ],
    expr: measure.cacheHit(),
    links: [toDashboard("By model", "cost")],
  }),
  stat({
    title: "Tool errors",
    description: "Failed tool calls as a share of those that ran. Denied and unfinished ones are not included.",
    todo: "Choose it to see which tool fails.",
    unit: UNIT.share,
    decimals: 1,
    width: 4,
    steps: [
      ["green", null],
      ["orange", 0.05],
      ["red", 0.2],
    ],
    expr: measure.toolErrors(),
    links: [toDashboard("Which tools", "tools")],
  }),
  stat({
    title: "Calls without a price",
    description:
      "Model calls without a known price. Their cost is unknown, not 0, and not included in any figure here.",
    todo: "Set your own price with prices.file, or update openhook-otel.",
    unit: UNIT.count,
    width: 4,
    steps: [
      ["text", null],
      ["orange", 1],
    ],
    expr: UNPRICED,
    links: [toDashboard("Which models", "cost")],
  }),
  changeOf("Sessions", SESSIONS, "A fall on working days: see collector health first."),
  changeOf(
    "Prompts",
    PROMPTS,
    "Read it with the change of the cost: more cost for the same prompts is a more expensive habit.",
  ),
  changeOf(
    "Cost per session",
    COST_PER_SESSION,
    "If it rises, look for longer sessions, other models, or fewer cache hits.",
  ),
  changeOf("Cache hit ratio", measure.cacheHit(), "If it falls, look for prompts or tool lists that change."),
  changeOf("Tool errors", measure.toolErrors(), "If it rises, the tools dashboard shows which tool."),
  changeOf("Calls without a price", UNPRICED, "If it rises, a new model is in use, or the program is old."),
];

const trends = (): Panels => [
  bars({
    title: "Tokens by kind",
    description:
      "Tokens in each interval. Input is split into cache reads, cache writes and the rest, so that no token counts twice.",
    todo: "Much input that is not cached is expensive: keep sessions short, and prompts stable.",
    unit: UNIT.tokens,
    width: 12,
    queries: measure.tokensByKind(),
    links: [toDashboard("By model", "cost")],
  }),
  bars({
    title: "Sessions by agent",
    description: "Ended session segments in each interval.",
    todo: "Choose a bar to see its sessions.",
    unit: UNIT.count,
    decimals: 0,
    width: 12,
    queries: [{ expr: exactSum(of.sessions(), ["agent"], "$__interval"), legend: `{{${LABEL.agent}}}` }],
    links: [toSessions("Sessions of this agent", { agent: labelOf(LABEL.agent) })],
  }),
  lines({
    title: "Cost per hour (trend)",
    description:
      "The cost of the six hours before each point, divided by six. A trend; totals are in the panels above.",
    todo: "A step that stays is a new habit or model; a peak is one session: find it in the session explorer.",
    unit: UNIT.usd,
    width: 12,
    links: [toSessions("Sessions of this agent", { agent: labelOf(LABEL.agent) })],
    queries: [{ expr: `${exactSum(of.cost(), ["agent"], "6h")} / 6`, legend: `{{${LABEL.agent}}}` }],
  }),
  lines({
    title: "Cache hit ratio and tool success",
    description: "Over the six hours before each point.",
    todo: "A step down on one day is usually an update of an agent: compare versions.",
    unit: UNIT.share,
    width: 12,
    max: 1,
    queries: [
      { expr: measure.cacheHit([], "6h"), legend: "cache hit ratio" },
      { expr: measure.toolSuccess([], "6h"), legend: "tool success" },
    ],
  }),
];

const tables = (): Panels => [
  table({
    title: "Agents",
    description: "Work of each agent. A dash means none, or not reported; missing figures are never shown as 0.",
    todo: "Compare agents by cost per session only for like work.",
    width: 24,
    height: 9,
    by: [["agent", "Agent"]],
    columns: [
      { name: "Cost", expr: exactSum(of.cost(), ["agent"]), unit: UNIT.usd, decimals: 2, noValue: "unknown" },
      { name: "Calls without a price", expr: exactSum(of.unpriced(), ["agent"]), unit: UNIT.count },
      { name: "Sessions", expr: exactSum(of.sessions(), ["agent"]), unit: UNIT.count },
      { name: "Turns", expr: exactSum(of.sessionTurns(), ["agent"]), unit: UNIT.count },
      { name: "Subagents", expr: exactSum(of.subagents(), ["agent"]), unit: UNIT.count },
      { name: "Model calls", expr: exactSum(of.modelCalls(), ["agent"]), unit: UNIT.count },
      { name: "Tool calls", expr: exactSum(of.tools(), ["agent"]), unit: UNIT.count },
      { name: "Input tokens", expr: exactSum(of.tokens("input"), ["agent"]), unit: UNIT.count },
      { name: "Output tokens", expr: exactSum(of.tokens("output"), ["agent"]), unit: UNIT.count },
      {
        name: "Cache hits",
        expr: measure.cacheHit(["agent"]),
        unit: UNIT.share,
        decimals: 1,
        noValue: "not reported",
      },
      { name: "Tool success", expr: measure.toolSuccess(["agent"]), unit: UNIT.share, decimals: 1 },
      { name: "Lines changed", expr: exactSum(of.lines(), ["agent"]), unit: UNIT.count },
    ],
    sortBy: "Input tokens",
    links: [toSessions("Sessions of this agent", { agent: put("__data.fields.Agent") })],
  }),
  table({
    title: "Models",
    description: "By requested model. A model without a known price has the cost “unknown”.",
    todo: "Move routine work to the cheaper model if quality allows it.",
    width: 24,
    height: 9,
    by: [["model", "Model"]],
    columns: [
      { name: "Cost", expr: exactSum(of.cost(), ["model"]), unit: UNIT.usd, decimals: 2, noValue: "unknown" },
      { name: "Calls", expr: exactSum(of.modelCalls(), ["model"]), unit: UNIT.count },
      { name: "Input tokens", expr: exactSum(of.tokens("input"), ["model"]), unit: UNIT.count },
      { name: "Output tokens", expr: exactSum(of.tokens("output"), ["model"]), unit: UNIT.count },
      {
        name: "Cache hits",
        expr: measure.cacheHit(["model"]),
        unit: UNIT.share,
        decimals: 1,
        noValue: "not reported",
      },
    ],
    sortBy: "Input tokens",
    links: [onlyThis("Cost of this model", "cost", { model: put("__data.fields.Model") })],
  }),
];

/** By how much a figure changed since the period of the same length before this one. */
function changeOf(
  title: string,
  expr: string,
  todo: string,
  {
    width = 4,
    height = 3,
    to,
  }: { readonly width?: number; readonly height?: number; readonly to?: keyof typeof UID } = {},
): Builder<Panel> {
  return stat({
    title: `${title}, change`,
    description: "Compared with the period of the same length before this one, as a share of it.",
    todo,
    unit: UNIT.share,
    decimals: 0,
    width,
    height,
    noValue: "nothing to compare with",
    expr: change(expr),
    ...(to !== undefined && { links: [toDashboard("What grew", to)] }),
  });
}

const SESSIONS = exactSum(of.sessions());
const PROMPTS = exactSum(of.sessionTurns(`${LABEL.turnOrigin}="human"`));
const COST_PER_SESSION = ratio(exactSum(of.cost()), exactSum(of.sessions()));
const UNPRICED = orZero(exactSum(of.unpriced()), exactSum(of.tokens("input")));

/** A machine's user is only in `target_info`: as a label of every series, a change would end them. */
const activeDevelopers = (() => {
  const people = ["user_hash", "user_email", "user_name"];
  const known = people.map((name) => `last_over_time(target_info{${name}!=""}[$__range])`).join(" or ");
  const active = `sum by (job, ${LABEL.machine}) (${exact(of.turnsOfMachines())}) > 0`;
  return `count(count by (${people.join(", ")}) ((${known}) and on (job, ${LABEL.machine}) (${active})))`;
})();
