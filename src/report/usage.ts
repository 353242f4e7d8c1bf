import { QUARTER_MS } from "../model/packed.ts";
import { TOKEN_KINDS } from "../model/token-kinds.ts";
import type { SessionSource } from "../sessions/read-session.ts";
import type { Database } from "../store/database.ts";
import { bucketsOf, compareBuckets, TIME_UNITS, type TimeUnit } from "./buckets.ts";
import type { Dimension, UsageQuery } from "./query.ts";
import {
  type CallFigures,
  type Fact,
  type FactsWanted,
  openFactsOf,
  settledFacts,
  type ToolFigures,
} from "./usage-facts.ts";
import { type CountedSession, countedSessions } from "./usage-sessions.ts";

/** What happened in one group. A part that the group cannot tell is absent: a tool has no tokens, a model no turns. */
export interface UsageRow {
  /** One value for each dimension that was asked for; `null`: not known. Sessions as `<source>/<id>`. */
  readonly key: Readonly<Partial<Record<Dimension, string | null>>>;
  /** Sessions in which any of this happened; subagents' are those of their root. */
  readonly sessions: number;
  /** A model call belongs to the time it ended. Tokens and cost are absent where nobody told them. */
  readonly calls?: CallFigures;
  /** Turns with a prompt, by the time they began. */
  readonly turns?: TurnSums;
  /** By the time they began. */
  readonly tools?: ToolSums;
  /** Agents of sessions here that never tell tokens, or whose transcript was never read: they used nobody knows what. */
  readonly untold: readonly string[];
  readonly untoldSessions: number;
}

export interface TurnSums {
  readonly turns: number;
  /** Of them those that a human asked for; the others the agent's machinery did. */
  readonly prompts: number;
  readonly failed: number;
  readonly interrupted: number;
}

export interface ToolSums {
  readonly calls: number;
  readonly errors: number;
  readonly denied: number;
  readonly unfinished: number;
  /** Still running. */
  readonly open: number;
  /** From start to end, waiting for the user included; calls at the same time each count. */
  readonly toolMs: number;
}

/**
 * Sums over everything the store has: what is settled, what is still open, and what was imported; nothing twice.
 * Pruned sessions and those of excluded projects are left out.
 *
 * @returns rows in order of their keys: times ascending, everything else by name, unknown last; none for an empty store
 * @throws RangeError for `model` with `tool`, of which nobody tells, and for a time zone that does not exist
 */
export function usage(db: Database, deps: Pick<SessionSource, "agents">, query: UsageQuery): readonly UsageRow[] {
  const [rows = []] = usageInWays(db, deps, query, [query.by]);
  return rows;
}

/**
 * The same, told apart in several ways by one look at the store: years of work take seconds to read.
 *
 * @returns the rows of each way, as `usage` gives them
 * @throws RangeError as `usage` does
 */
export function usageInWays(
  db: Database,
  deps: Pick<SessionSource, "agents">,
  query: Omit<UsageQuery, "by">,
  ways: readonly UsageQuery["by"][],
): readonly (readonly UsageRow[])[] {
  const queries = ways.map((by): UsageQuery => ({ ...query, by }));
  if (queries.some((one) => asks(one, "model") && asks(one, "tool"))) {
    throw new RangeError("no agent tells which model a tool call is of: choose one of model and tool");
  }
  const sessions = countedSessions(db, deps, query);
  const range = {
    sinceMs: Math.floor((query.sinceMs ?? 0) / QUARTER_MS) * QUARTER_MS,
    untilMs: query.untilMs === undefined ? Infinity : Math.ceil(query.untilMs / QUARTER_MS) * QUARTER_MS,
  };
  const nameOf = bucketsOf(query.timeZone);
  const tables = queries.map((one) => new Table(one, nameOf));
  const add = (fact: Fact, isWithin = true): void => {
    const session = sessions.get(fact.session);
    if (session === undefined || !isWithin) return;
    for (const table of tables) table.add(fact, session);
  };
  const isWithin = ({ timeMs }: Pick<Fact, "timeMs">): boolean => timeMs >= range.sinceMs && timeMs < range.untilMs;
  const isAskedFor = (dimension: Dimension): boolean => queries.some((one) => asks(one, dimension));
  const isWanted = (kind: Fact["kind"]): boolean => tables.some(({ parts }) => parts[kind]);
  const unit = isAskedFor("hour") ? "hour" : TIME_UNITS.some(isAskedFor) ? "day" : undefined;
  const kinds: FactsWanted = {
    ...range,
    calls: isWanted("calls"),
    tools: isWanted("tools"),
    turns: isWanted("turns"),
    byModel: isAskedFor("model") || query.model !== undefined,
    byTool: isAskedFor("tool"),
    ...(unit !== undefined && { unit }),
    ...(query.timeZone !== undefined && { timeZone: query.timeZone }),
  };
  for (const fact of settledFacts(db, [...sessions.keys()], kinds)) add(fact);
  for (const fact of openFactsOf(db, deps, sessions)) add(fact, isWithin(fact));
  for (const [number, session] of sessions) {
    if (session.root !== number) continue;
    const fact: Fact = { kind: "calls", session: number, timeMs: session.firstMs, model: null, figures: NOTHING };
    if (!isWithin(fact)) continue;
    for (const table of tables) if (table.hasWithoutCalls(session)) table.add(fact, session);
  }
  return tables.map((table) => table.done());
}

/** Which parts the rows have that a question gives, whatever the store holds. */
export function partsOf(query: UsageQuery): {
  readonly calls: boolean;
  readonly tools: boolean;
  readonly turns: boolean;
} {
  const ofModels = asks(query, "model") || query.model !== undefined;
  return { calls: !asks(query, "tool"), tools: !ofModels, turns: !ofModels && !asks(query, "tool") };
}

// --- internal ---

const asks = ({ by }: UsageQuery, dimension: Dimension): boolean => by.includes(dimension);
const isTime = (dimension: Dimension): dimension is TimeUnit => TIME_UNITS.some((unit) => unit === dimension);

const NOTHING: CallFigures = {
  modelCalls: 0,
  sumsTold: 0,
  callsWithoutUsage: 0,
  incompleteCalls: 0,
  unpricedCalls: 0,
  modelMs: 0,
};

function keyValue(
  dimension: Dimension,
  fact: Fact,
  session: CountedSession,
  nameOf: ReturnType<typeof bucketsOf>,
): string | null {
  switch (dimension) {
    case "agent":
      return session.agent;
    case "repository":
      return session.repository ?? null;
    case "session":
      return session.name;
    case "model":
      return fact.kind === "calls" ? fact.model : null;
    case "tool":
      return fact.kind === "tools" ? fact.tool : null;
    default:
      return nameOf(fact.timeMs, dimension);
  }
}

/** The rows of one way while they are summed up. */
class Table {
  readonly #query: UsageQuery;
  readonly #nameOf: ReturnType<typeof bucketsOf>;
  readonly #rows = new Map<string, Row>();
  readonly parts: Readonly<Record<Fact["kind"], boolean>>;

  constructor(query: UsageQuery, nameOf: ReturnType<typeof bucketsOf>) {
    this.#query = query;
    this.#nameOf = nameOf;
    this.parts = partsOf(query);
  }

  add(fact: Fact, session: CountedSession): void {
    const { by, model } = this.#query;
    if (!this.parts[fact.kind]) return;
    if (model !== undefined && fact.kind === "calls" && fact.model !== model) return;
    const values = by.map((dimension) => keyValue(dimension, fact, session, this.#nameOf));
    const id = JSON.stringify(values);
    let row = this.#rows.get(id);
    if (row === undefined) {
      row = new Row(by, values, this.parts);
      this.#rows.set(id, row);
    }
    row.add(fact, session);
  }

  /** A session is there from its beginning on, whatever happened in it; who used no tool or this model is not. */
  hasWithoutCalls({ isUntold }: CountedSession): boolean {
    if (asks(this.#query, "tool") || this.#query.model !== undefined) return false;
    return !asks(this.#query, "model") || isUntold;
  }

  done(): readonly UsageRow[] {
    const { by } = this.#query;
    return [...this.#rows.values()].map((row) => row.done()).sort((a, b) => compareKeys(by, a.key, b.key));
  }
}

/** A row while it is summed up. */
class Row {
  readonly #key: UsageRow["key"];
  readonly #parts: Readonly<Record<Fact["kind"], boolean>>;
  readonly #sessions = new Set<number>();
  // Hardly any row has these two, and there can be a million rows
  #untold: Map<number, string> | undefined;
  #told: Set<number> | undefined;
  readonly #calls: { -readonly [K in keyof CallFigures]: CallFigures[K] } = { ...NOTHING };
  readonly #tools = { calls: 0, errors: 0, denied: 0, unfinished: 0, open: 0, toolMs: 0 };
  readonly #turns = { turns: 0, prompts: 0, failed: 0, interrupted: 0 };

  constructor(by: readonly Dimension[], values: readonly (string | null)[], parts: Record<Fact["kind"], boolean>) {
    this.#key = Object.fromEntries(by.map((dimension, i) => [dimension, values[i] ?? null]));
    this.#parts = parts;
  }

  add(fact: Fact, { root, agent, isUntold }: CountedSession): void {
    this.#sessions.add(root);
    if (isUntold) {
      this.#untold ??= new Map();
      this.#untold.set(root, agent);
    }
    // Whoever tells after all, in a session that is not settled yet
    if (isUntold && fact.kind === "calls" && fact.figures.input !== undefined) {
      this.#told ??= new Set();
      this.#told.add(root);
    }
    if (fact.kind === "calls") addTo(this.#calls, fact.figures, CALL_FIGURES);
    else if (fact.kind === "tools") addTo(this.#tools, fact.figures, TOOL_FIGURES);
    else addTo(this.#turns, fact.figures, TURN_FIGURES);
  }

  done(): UsageRow {
    const untold = this.#parts.calls
      ? [...(this.#untold ?? [])].filter(([root]) => this.#told?.has(root) !== true)
      : [];
    return {
      key: this.#key,
      sessions: this.#sessions.size,
      ...(this.#parts.calls && { calls: this.#calls }),
      ...(this.#parts.turns && { turns: this.#turns }),
      ...(this.#parts.tools && { tools: this.#tools }),
      untold: [...new Set(untold.map(([, agent]) => agent))].sort(),
      untoldSessions: untold.length,
    };
  }
}

const CALL_FIGURES = [
  "modelCalls",
  "sumsTold",
  ...TOKEN_KINDS,
  "callsWithoutUsage",
  "incompleteCalls",
  "costNanoUsd",
  "unpricedCalls",
  "modelMs",
  "cacheToldInput",
] as const satisfies readonly (keyof CallFigures)[];
const TOOL_FIGURES = [
  "calls",
  "errors",
  "denied",
  "unfinished",
  "open",
  "toolMs",
] as const satisfies readonly (keyof ToolFigures)[];
const TURN_FIGURES = ["turns", "prompts", "failed", "interrupted"] as const;

/** What is absent in all stays absent: unknown is never 0. */
function addTo<K extends string>(
  sums: { [P in K]?: number | undefined },
  more: { readonly [P in K]?: number | undefined },
  keys: readonly K[],
): void {
  for (const key of keys) {
    const value = more[key];
    if (value !== undefined) sums[key] = (sums[key] ?? 0) + value;
  }
}

function compareKeys(by: readonly Dimension[], a: UsageRow["key"], b: UsageRow["key"]): number {
  for (const dimension of by) {
    const [x, y] = [a[dimension] ?? null, b[dimension] ?? null];
    if (x === y) continue;
    if (x === null) return 1;
    if (y === null) return -1;
    if (isTime(dimension)) return compareBuckets(x, y);
    return x < y ? -1 : 1;
  }
  return 0;
}
