import type { Agent } from "#core/model/agent.ts";
import {
  RATE_WINDOWS,
  type RateLimit,
  type RateWindow,
  type Subscriptions,
  WINDOW_MS,
} from "#core/model/rate-limit.ts";
import { UserError } from "#kit/errors.ts";
import type { Database } from "#store/database.ts";
import { subscribedAgents, unpricedModels } from "../prices.ts";
import { type Question, type QuestionOptions, rangeOf } from "../question.ts";
import { addFigures, type CallFigures, NOTHING } from "../usage-facts.ts";
import type { UsageReport } from "../usage-report.ts";
import type { UsageRow } from "../usage-rows.ts";
import { type CountedSession, countedSessions } from "../usage-sessions.ts";
import { type CallFact, callFacts } from "./call-facts.ts";
import { type LimitWindow, reportedWindows, windowsOf } from "./windows.ts";

/** What one agent used in one window. */
export interface Block extends LimitWindow {
  readonly agent: string;
  readonly calls: CallFigures;
  /** Names of models, most expensive first; `null`: unnamed. */
  readonly models: readonly (string | null)[];
  readonly sessions: number;
}

/** Windows of one length, in order of time. */
export interface BlockTable extends Pick<UsageReport, "total" | "unpriced" | "leftOut" | "subscribed"> {
  readonly window: RateWindow;
  readonly blocks: readonly Block[];
}

export interface BlockReport {
  readonly tables: readonly BlockTable[];
  /** Quarters of an hour of imported sessions that could not be divided at a window's boundary. */
  readonly undivided: number;
}

export interface BlockQuestion {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly agent?: string;
  /** IANA name. @default the machine's */
  readonly timeZone?: string;
  /** The newest blocks of each table. */
  readonly limit?: number;
}

/**
 * Calls by the windows in which providers limit usage. Windows that overlap the time of the question are included whole, so that a figure
 * and the share of the limit belong to the same time.
 *
 * @param limits that each agent reported, by its id
 */
export function blocksOf(
  db: Database,
  agents: readonly Agent[],
  limits: ReadonlyMap<string, readonly RateLimit[]>,
  question: BlockQuestion,
  subscriptions: Subscriptions = new Map(),
): BlockReport {
  const sessions = countedSessions(db, { agents }, question.agent === undefined ? {} : { agent: question.agent });
  const sources = new Set([...sessions.values()].map(({ agent }) => agent));
  const reported = new Map(
    WINDOWS.map((window) => [
      window,
      new Map([...sources].map((source) => [source, reportedWindows(limits.get(source) ?? [], window)] as const)),
    ]),
  );
  const all = [...reported.values()].flatMap((byAgent) => [...byAgent.values()].flat());
  const boundaries = all.flatMap(({ startMs, endMs }) => [startMs, endMs]);
  const { facts, undivided } = callFacts(db, { agents }, sessions, boundaries);
  const tables = WINDOWS.map((window): BlockTable => {
    const found = [...sources].flatMap((agent) => {
      const own = facts.filter(({ session }) => sessions.get(session)?.agent === agent);
      const times = own.map(({ timeMs }) => timeMs);
      const windows = windowsOf(reported.get(window)?.get(agent) ?? [], times, WINDOW_MS[window]);
      return filled(windows, own)
        .filter(({ startMs, endMs }) => endMs > question.sinceMs && startMs < question.untilMs)
        .map((block) => ({ agent, ...block }));
    });
    const withCosts = found.flatMap(({ agent, facts: own }) => (sumOf(own).costNanoUsd === undefined ? [] : agent));
    const subscribed = subscribedAgents([...new Set(withCosts)], subscriptions, question.untilMs);
    return { ...tableOf(db, window, found, sessions, question), ...(subscribed.length > 0 && { subscribed }) };
  });
  return { tables, undivided };
}

const WINDOWS = Object.keys(RATE_WINDOWS) as readonly RateWindow[];

/** The report without a store: both tables, without windows. */
export const NO_BLOCKS: BlockReport = {
  tables: WINDOWS.map((window) => ({ window, blocks: [], leftOut: 0, total: undefined, unpriced: [] })),
  undivided: 0,
};

/**
 * The question of `report --blocks`.
 *
 * @param words dimensions on the command line
 * @throws UserError for options that windows cannot be combined with, and for a wrong time
 */
export function blockQuestionOf(words: readonly string[], options: QuestionOptions, nowMs: number): BlockQuestion {
  if (words.length > 0) refuse(`windows are the rows of --blocks: leave out ${words.join(" ")}`);
  if (options.csv) refuse("--blocks prints two tables, which one CSV file cannot have: use --json");
  for (const filter of ["model", "repository"] as const) {
    if (options[filter] !== undefined)
      refuse(`--blocks cannot be combined with --${filter}: a limit is for all models and repositories of an agent`);
  }
  const { sinceMs, untilMs = nowMs } = rangeOf(options, ["day"], nowMs);
  const limit = options.limit ?? (options.json ? undefined : DEFAULT_LIMIT);
  const { agent, timeZone } = options;
  return {
    sinceMs,
    untilMs,
    ...(agent !== undefined && { agent }),
    ...(timeZone !== undefined && { timeZone }),
    ...(limit !== undefined && { limit }),
  };
}

/** The same as a query of usage. */
export const queryOf = ({ sinceMs, untilMs, agent, timeZone }: BlockQuestion, nowMs: number): Question["query"] => ({
  by: [],
  sinceMs,
  ...(untilMs < nowMs && { untilMs }),
  ...(agent !== undefined && { agent }),
  ...(timeZone !== undefined && { timeZone }),
});

// --- internal ---

type Filled = LimitWindow & { readonly facts: readonly CallFact[] };

/** @param facts in order of time; each lies in one of the windows */
function filled(windows: readonly LimitWindow[], facts: readonly CallFact[]): readonly Filled[] {
  let next = 0;
  return windows.map((window) => {
    const first = next;
    while ((facts[next]?.timeMs ?? Number.POSITIVE_INFINITY) < window.endMs) next++;
    return { ...window, facts: facts.slice(first, next) };
  });
}

function tableOf(
  db: Database,
  window: RateWindow,
  found: readonly (Filled & { readonly agent: string })[],
  sessions: ReadonlyMap<number, CountedSession>,
  { sinceMs, untilMs, limit }: BlockQuestion,
): BlockTable {
  const rootOf = ({ session }: CallFact): number => sessions.get(session)?.root ?? session;
  const blocks = found
    .map(({ facts, ...one }): Block => {
      const models = [...byModel(facts)].sort(([, a], [, b]) => (b.costNanoUsd ?? 0) - (a.costNanoUsd ?? 0));
      return {
        ...one,
        calls: sumOf(facts),
        models: models.map(([model]) => model),
        sessions: new Set(facts.map(rootOf)).size,
      };
    })
    .sort((a, b) => a.startMs - b.startMs || (a.agent < b.agent ? -1 : 1));
  const facts = found.flatMap((one) => one.facts);
  const shown = limit === undefined ? blocks : blocks.slice(-limit);
  const roots = new Set(facts.map(rootOf));
  const silent = [...sessions].filter(
    ([number, { root, isUsageUnknown, firstMs }]) =>
      root === number && isUsageUnknown && !roots.has(root) && firstMs >= sinceMs && firstMs < untilMs,
  );
  const total: UsageRow = {
    key: {},
    sessions: roots.size + silent.length,
    calls: sumOf(facts),
    agentsWithoutUsage: [...new Set(silent.map(([, { agent }]) => agent))].sort(),
    sessionsWithoutUsage: silent.length,
  };
  const models = [...byModel(facts)].map(([model, calls]) => ({ ...total, key: { model }, calls }));
  return {
    window,
    blocks: shown,
    leftOut: blocks.length - shown.length,
    total: blocks.length + silent.length === 0 ? undefined : total,
    unpriced: unpricedModels(db, models),
  };
}

const sumOf = (facts: readonly CallFact[]): CallFigures =>
  facts.reduce((sum, { figures }) => addFigures(sum, figures), NOTHING);

function byModel(facts: readonly CallFact[]): ReadonlyMap<string | null, CallFigures> {
  const sums = new Map<string | null, CallFigures>();
  for (const { model, figures } of facts) sums.set(model, addFigures(sums.get(model) ?? NOTHING, figures));
  return sums;
}

const DEFAULT_LIMIT = 20;

function refuse(message: string): never {
  throw new UserError("E_USAGE", message);
}
