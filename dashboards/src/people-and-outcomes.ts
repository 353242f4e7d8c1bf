import type { Dashboard } from "@grafana/grafana-foundation-sdk/dashboard";
import { dashboardOf, type Panels, withRows } from "./dashboard.ts";
import { put, toSessions, UID } from "./links.ts";
import { outcomes } from "./outcomes.ts";
import { lines, stat, table, UNIT } from "./panels.ts";
import { exact, IDLE, LABEL, raw } from "./promql.ts";
import { matching, variable } from "./variables.ts";

/** How agents spread over teams, and what they cost there. Groups below a minimum size are hidden, and people are not ranked. */
export const peopleAndOutcomes = (): Dashboard =>
  withRows(
    dashboardOf({
      title: "people and outcomes",
      uid: UID.people,
      description:
        "Cost and sessions by team, spread over people without naming or ranking them, adoption by agent, and what became of commits. Groups of fewer people than “At least” are hidden.",
      refresh: "15m",
      variables: [
        variable.datasource(),
        variable.agent(),
        variable.environment(),
        variable.repository(),
        variable.cohort(),
      ],
    }),
    {
      People: people(),
      Teams: teams(),
      Adoption: adoption(),
      Outcomes: outcomePanels(),
    },
  ).build();

// --- internal ---

const people = (): Panels => [
  stat({
    title: "People",
    description:
      "Distinct people with turns. Needs identity.user: hash with one identity.salt on all machines; without it, people cannot be counted.",
    todo: "Compare with the people who have an agent, to see whether more of them need an introduction.",
    unit: UNIT.count,
    width: 6,
    noValue: "too few, or identity is off",
    expr: `${PEOPLE} >= $cohort`,
  }),
  stat({
    title: "Cost per person, median",
    description: "Half of the people cost more than this in the time range, half less.",
    todo: "Plan budgets by it: it changes less than the mean when a few people try something large.",
    unit: UNIT.usd,
    decimals: 2,
    width: 6,
    noValue: "too few, or identity is off",
    expr: spread(0.5, COST),
  }),
  stat({
    title: "Cost per person, upper tenth",
    description: "A tenth of the people cost more than this in the time range.",
    todo: "If it is many times the median, talk about models and long sessions with everybody, not about persons.",
    unit: UNIT.usd,
    decimals: 2,
    width: 6,
    noValue: "too few, or identity is off",
    expr: spread(0.9, COST),
  }),
  stat({
    title: "Sessions per person, median",
    description: "Ended sessions: half of the people had more in the time range, half fewer.",
    todo: "If it is low, ask what keeps people from using agents. It says nothing about anybody's work.",
    unit: UNIT.count,
    decimals: 0,
    width: 6,
    noValue: "too few, or identity is off",
    expr: spread(0.5, SESSIONS),
  }),
];

const teams = (): Panels => [
  table({
    title: "Teams",
    description:
      "By the resource attribute team of the machines' settings. Teams with fewer people than “At least” are not shown. A machine that changed its team in the time range counts for one of the two.",
    todo: "Compare a team with its own past, not with other teams: their work differs.",
    width: 24,
    height: 9,
    noValue: "unknown",
    by: [["team", "Team"]],
    columns: [
      { name: "People", expr: `${TEAM_PEOPLE} >= $cohort`, unit: UNIT.count },
      { name: "Cost", expr: byTeam(COST), unit: UNIT.usd, decimals: 2 },
      { name: "Cost per person", expr: `${byTeam(COST)} / ${TEAM_PEOPLE}`, unit: UNIT.usd, decimals: 2 },
      { name: "Sessions", expr: byTeam(SESSIONS), unit: UNIT.count },
      { name: "Sessions per person", expr: `${byTeam(SESSIONS)} / ${TEAM_PEOPLE}`, unit: UNIT.count, decimals: 1 },
    ],
    sortBy: "Team",
  }),
];

const adoption = (): Panels => [
  lines({
    title: "Machines by agent",
    description:
      "Machines on which the agent had a turn in the seven days before each point. Fewer than “At least”: not shown.",
    todo: "A falling line is an agent that people leave: ask why before you pay for it.",
    unit: UNIT.count,
    decimals: 0,
    width: 12,
    queries: [
      {
        expr: `count by (${LABEL.agent}) (${machinesWith("7d")}) >= $cohort`,
        legend: `{{${LABEL.agent}}}`,
      },
    ],
  }),
  table({
    title: "Agents in use",
    description: "Machines with turns of the agent in the time range, and its cost and sessions there.",
    todo: "Roll-out gaps and the agents' versions are in the coverage row of collector health.",
    width: 12,
    by: [["agent", "Agent"]],
    columns: [
      { name: "Machines", expr: MACHINES, unit: UNIT.count },
      {
        name: "Share of machines",
        expr: `${MACHINES} / ignoring (${LABEL.agent}) group_left () count(sum by (instance) (${machinesWith()}))`,
        unit: UNIT.share,
        decimals: 0,
      },
      { name: "Cost", expr: byAgent(COST), unit: UNIT.usd, decimals: 2, noValue: "unknown" },
      { name: "Sessions", expr: byAgent(SESSIONS), unit: UNIT.count },
    ],
    sortBy: "Machines",
    links: [toSessions("Sessions of this agent", { agent: put("__data.fields.Agent") })],
  }),
];

const outcomePanels = (): Panels => [
  outcomes.commits(),
  outcomes.merged(),
  outcomes.costPerMerged(),
  outcomes.kept(),
  outcomes.byRepository(),
  outcomes.survival(),
];

const PERSON = "user_hash, user_email, user_name";
/** Each machine and agent; only their own series have the resource, see `target_info`. */
const PLACE = "job, instance";

const perMachine = (metric: string, range = "$__range"): string =>
  `sum by (${PLACE}, ${LABEL.agent}) (${exact(`${raw(metric)}{${matching("agent", "environment", "repository")}}`, range)})`;

const COST = perMachine("openhook.cost.usage");
const SESSIONS = perMachine("openhook.session.count");
const machinesWith = (range?: string): string => `(${perMachine("openhook.turn.count", range)} > 0)`;
const MACHINES = `(count by (${LABEL.agent}) (${machinesWith()}) >= $cohort)`;

/** One series for each machine and agent, with these labels of its resource; without them if it has none. */
const resource = (labels: string, known: readonly string[]): string =>
  `topk by (${PLACE}) (1, max by (${PLACE}, ${labels}) (${known.map((name) => `last_over_time(target_info{${name}!=""}[${IDLE}])`).join(" or ")}))`;

const WHO = resource(PERSON, ["user_hash", "user_email", "user_name"]);
const TEAM = resource("team", ["team"]);

const PER_PERSON = (what: string): string =>
  `sum by (${PERSON}) (${what} * on (${PLACE}) group_left (${PERSON}) ${WHO})`;
const PEOPLE = `count(${PER_PERSON(machinesWith())})`;
const TEAM_PEOPLE = `count by (team) (sum by (team, ${PERSON}) (${machinesWith()} * on (${PLACE}) group_left (${PERSON}) ${WHO} * on (${PLACE}) group_left (team) ${TEAM}))`;

/** A quantile over people, if there are enough of them. */
const spread = (q: number, what: string): string =>
  `quantile(${q}, ${PER_PERSON(what)}) and on () (${PEOPLE} >= $cohort)`;

const byTeam = (what: string): string =>
  `(sum by (team) (${what} * on (${PLACE}) group_left (team) ${TEAM}) and on (team) (${TEAM_PEOPLE} >= $cohort))`;

const byAgent = (what: string): string => `(sum by (${LABEL.agent}) (${what}) and on (${LABEL.agent}) ${MACHINES})`;
