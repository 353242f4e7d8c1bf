import { defined } from "#kit/objects.ts";
import { plural } from "#kit/text/figures.ts";
import {
  type Digest,
  type DigestFigures,
  type DigestUnit,
  firstParts,
  type Part,
  type Period,
  periodBefore,
} from "#show/report/digest/digest.ts";
import { MAX_MODELS, MAX_REPOSITORIES } from "#show/report/digest/local.ts";
import type { Backend } from "./reconcile/backend.ts";
import { samplesIn } from "./reconcile/fetch.ts";

/** Labels of these queries. */
export const LABELS = {
  repository: "vcs_repository_name",
  model: "gen_ai_request_model",
  turnState: "openhook_turn_state",
  toolStatus: "openhook_tool_status",
} as const;

/**
 * The dashboards' expressions, with all agents, repositories and models. A test compares them.
 *
 * @param range the length of the period, as a duration
 */
export const digestQueries = (range: string) => {
  const grown = (counter: string, by?: string): string => {
    const last = (moment: string): string => `last_over_time(${counter}[30d]${moment})`;
    const growth = `${last("")} - (${last(` offset ${range}`)} or 0 * ${last("")})`;
    return by === undefined ? `sum((${growth}))` : `sum by (${by}) ((${growth}))`;
  };
  return {
    cost: grown(COST),
    unpriced: grown("openhook_cost_unpriced_count_total"),
    sessions: grown("openhook_session_count_total"),
    turns: grown("openhook_turn_count_total", `service_name, ${LABELS.turnState}`),
    tools: grown("openhook_tool_call_count_total", LABELS.toolStatus),
    merged: grown("openhook_change_merged_count_total"),
    repositories: grown(COST, LABELS.repository),
    models: grown(COST, LABELS.model),
  };
};

/**
 * The last whole week or month of a team, from the counters of all machines in Prometheus.
 *
 * @throws UserError if it cannot be queried
 */
export async function teamDigest(backend: Backend, unit: DigestUnit, nowMs: number): Promise<Digest> {
  const period = periodBefore(unit, nowMs, 1);
  const [now, before] = [await answersOf(backend, period), await answersOf(backend, periodBefore(unit, nowMs, 2))];
  const unpriced = sumOf(now.unpriced) ?? 0;
  return {
    unit,
    of: backend.url,
    period,
    figures: figuresOf(now),
    before: figuresOf(before),
    repositories: firstParts(partsOf(now.repositories, LABELS.repository, "(no repository)"), MAX_REPOSITORIES),
    models: firstParts(partsOf(now.models, LABELS.model, "(no model)"), MAX_MODELS),
    unknown: ["the time at work", ...(unpriced > 0 ? [`the price of ${plural(unpriced, "call")}`] : [])],
    subscribed: [],
  };
}

// --- internal ---

const COST = "openhook_cost_usage_USD_total";

type Samples = ReturnType<typeof samplesIn>;
type Answers = Readonly<Record<keyof ReturnType<typeof digestQueries>, Samples>>;

async function answersOf(backend: Backend, { sinceMs, untilMs }: Period): Promise<Answers> {
  const queries = Object.entries(digestQueries(`${(untilMs - sinceMs) / 1000}s`));
  const answers = queries.map(async ([name, query]) => {
    const response = await backend.query("/api/v1/query", { query, time: String(untilMs / 1000) });
    return [name, samplesIn(response)] as const;
  });
  return Object.fromEntries(await Promise.all(answers)) as Answers;
}

function figuresOf(of: Answers): DigestFigures {
  const cost = sumOf(of.cost);
  const known = {
    costNanoUsd: cost === undefined ? undefined : Math.round(cost * 1e9),
    sessions: sumOf(of.sessions),
    turns: sumOf(of.turns),
    failedTurns: sumOf(of.turns, ({ [LABELS.turnState]: state }) => state === "failed" || state === "interrupted"),
    toolCalls: sumOf(of.tools),
    toolErrors: sumOf(of.tools, ({ [LABELS.toolStatus]: status }) => status === "error"),
    merged: sumOf(of.merged),
  };
  return { ...defined<Omit<DigestFigures, "isCostLeast">>(known), isCostLeast: (sumOf(of.unpriced) ?? 0) > 0 };
}

/** @returns `undefined` if there is no series at all */
const sumOf = (samples: Samples, isWanted: (labels: Samples[number]["labels"]) => boolean = () => true) =>
  samples.length === 0
    ? undefined
    : samples.reduce((sum, { labels, value }) => (isWanted(labels) ? sum + value : sum), 0);

const partsOf = (samples: Samples, label: string, unnamed: string): readonly Part[] =>
  samples
    .filter(({ value }) => value > 0)
    .map(({ labels, value }) => ({ name: labels[label] || unnamed, costNanoUsd: Math.round(value * 1e9) }));
