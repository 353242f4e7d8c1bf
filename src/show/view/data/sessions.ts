import type { Repository } from "#core/model/session.ts";
import { type Failures, failsOften, sumOfFailures } from "#kit/text/failure-share.ts";
import type { Database, Value } from "#store/database.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import { unsettledSession } from "#store/sessions/unsettled-session.ts";
import { sessionById, unsettledSessions } from "#store/sessions.ts";
import { type RepositoryNames, repositoryOrFolder } from "../../report/repositories.ts";
import { summarise } from "../../report/session-summary.ts";
import type { Sort } from "../wire/api.ts";
import { type FilterValues, SHOWN, STARTED } from "./filter-values.ts";
import { type RowDeps, toRow } from "./rows.ts";

/** Which sessions are listed. */
export interface ListFilters {
  readonly agent?: string;
  readonly repository?: string;
  readonly model?: string;
  readonly tool?: string;
  /** Searched in id, agent, repository, branch, folder, and names of models and tools; case-insensitive. */
  readonly text?: string;
  /** Last activity at or after this time. */
  readonly sinceMs?: number;
  /** Start before this time. */
  readonly untilMs?: number;
  /** Only sessions that ended with an error, in which a turn failed, or in which tool calls failed far more often than usual. */
  readonly errors: boolean;
}

interface ListQuery extends ListFilters {
  readonly sort: Sort;
  readonly descending: boolean;
  readonly limit: number;
}

export type ListDeps = RowDeps & { readonly filterValues: (db: Database) => FilterValues };

/** Numbers of all sessions that match, by latest activity. */
export function sessionIds(db: Database, { agents, filterValues }: ListDeps, filters: ListFilters): readonly number[] {
  const all = [...conditions(db, agents, filterValues(db), filters)];
  return db
    .prepare(
      `SELECT s.id AS id FROM sessions s WHERE ${all.map(({ sql }) => sql).join(" AND ")} ORDER BY s.last_ms DESC, s.id DESC`,
    )
    .all(...all.flatMap(({ values }) => values))
    .map((row) => Number(row["id"]));
}

/** The first sessions that match a query. */
export function listSessions(db: Database, deps: ListDeps, query: ListQuery) {
  const { agents } = deps;
  const filterValues = deps.filterValues(db);
  const all = [...conditions(db, agents, filterValues, query)];
  const where = { sql: all.map(({ sql }) => sql).join(" AND "), values: all.flatMap(({ values }) => values) };
  const order = query.descending ? "DESC" : "ASC";
  const rows = db
    .prepare(
      `SELECT s.id AS id, ${SORT_KEY[query.sort]} AS v FROM sessions s ${JOIN[query.sort]} WHERE ${where.sql}
       ORDER BY v ${order}, s.id ${order} LIMIT ?`,
    )
    .all(...where.values, query.limit);
  const countOf = (sql: string, values: readonly Value[]): number =>
    Number(db.prepare(`SELECT count(*) AS n FROM sessions s WHERE ${sql}`).get(...values)?.["n"] ?? 0);
  return {
    kind: "sessions" as const,
    rows: rows.map((row) =>
      toRow(db, deps, summarise(db, sessionById(db, Number(row["id"])), { agents }), filterValues.names),
    ),
    /** Number of sessions that match the filters, also beyond the limit. */
    matchCount: countOf(where.sql, where.values),
    /** Number of sessions without filters. */
    totalCount: countOf(SHOWN, []),
    choices: filterValues.choices,
  };
}

// --- internal ---

const REPOSITORY = "json_extract(s.repository, '$.name')";

/** Sort keys, from settled data; unknown sorts below every known value. */
const SORT_KEY = {
  recent: "s.last_ms",
  started: STARTED,
  tokens: "coalesce(u.tokens, -1)",
  cost: "coalesce(u.cost, -1)",
  errors: "coalesce(t.errors, 0)",
} as const satisfies Record<Sort, string>;

const USAGE_JOIN = `LEFT JOIN (SELECT session, sum(input) + sum(output) AS tokens, sum(cost_nano_usd) AS cost FROM usage GROUP BY session) u
  ON u.session = s.id`;
const JOIN = {
  recent: "",
  started: "",
  tokens: USAGE_JOIN,
  cost: USAGE_JOIN,
  errors:
    "LEFT JOIN (SELECT session, sum(errors + denied) AS errors FROM tool_usage GROUP BY session) t ON t.session = s.id",
} as const satisfies Record<Sort, string>;

interface Condition {
  readonly sql: string;
  readonly values: readonly Value[];
}

function* conditions(
  db: Database,
  agents: SessionSource["agents"],
  filterValues: FilterValues,
  query: ListFilters,
): Generator<Condition> {
  yield { sql: SHOWN, values: [] };
  if (query.agent !== undefined) yield { sql: "s.source = ?", values: [query.agent] };
  if (query.repository !== undefined) yield inRepository(filterValues, query.repository);
  if (query.sinceMs !== undefined) yield { sql: "s.last_ms >= ?", values: [query.sinceMs] };
  if (query.untilMs !== undefined) yield { sql: `${STARTED} < ?`, values: [query.untilMs] };
  // SQL cannot filter unsettled data, so these few sessions are checked one by one
  const { model, tool, errors, text = "" } = query;
  const needsTraits = model !== undefined || tool !== undefined || errors || text !== "";
  const unsettled = needsTraits ? unsettledTraits(db, agents) : [];
  if (model !== undefined) yield usedOne("usage u WHERE u.model = ?", model, unsettled, ({ models }) => models);
  if (tool !== undefined) yield usedOne("tool_usage u WHERE u.name = ?", tool, unsettled, ({ tools }) => tools);
  if (errors) yield hadErrors(db, unsettled);
  if (text !== "") yield containsText(db, agents, filterValues, unsettled, text);
}

/** The repository as a filter names it, or the folder of a session without one. */
function inRepository({ repositories, folders, names }: FilterValues, repository: string): Condition {
  const matching = repositories.filter((one) => names.isMeant(one, repository));
  const isMeant = (folder: string): boolean => {
    const named = repositoryOrFolder(undefined, folder);
    return named !== undefined && names.isMeant(named, repository);
  };
  return {
    sql: `(EXISTS (SELECT 1 FROM json_each(?) m WHERE json_extract(m.value, '$.name') = ${REPOSITORY}
        AND json_extract(m.value, '$.url') IS json_extract(s.repository, '$.url'))
      OR s.repository IS NULL AND s.cwd IN (SELECT value FROM json_each(?)))`,
    values: [JSON.stringify(matching), JSON.stringify(folders.filter(isMeant))],
  };
}

/** The sessions that used one model, or called one tool. @param settled the view of it, with its condition */
const usedOne = (
  settled: string,
  name: string,
  unsettled: readonly UnsettledTraits[],
  namesOf: (traits: UnsettledTraits) => ReadonlySet<string>,
): Condition => ({
  sql: `(EXISTS (SELECT 1 FROM ${settled} AND u.session = s.id) OR s.id IN (SELECT value FROM json_each(?)))`,
  values: [name, idsOf(unsettled.filter((one) => namesOf(one).has(name)))],
});

/** Almost every session has a failed tool call, because agents try things: only those count that fail far more often than usual. */
function hadErrors(db: Database, unsettled: readonly UnsettledTraits[]): Condition {
  const failures = new Map<number, Failures>(unsettled.map(({ session, calls }) => [session, calls]));
  for (const row of db
    .prepare("SELECT session, sum(errors) AS failed, sum(calls) AS calls FROM tool_usage GROUP BY session")
    .all()) {
    const [session, settled] = [Number(row["session"]), { failed: Number(row["failed"]), calls: Number(row["calls"]) }];
    failures.set(session, sumOfFailures([settled, failures.get(session) ?? NO_FAILURES]));
  }
  const usual = sumOfFailures([...failures.values()]);
  const withMany = [...failures].flatMap(([session, one]) => (failsOften(one, usual) ? [session] : []));
  const withFailedTurn = unsettled.filter(({ hasFailedTurn }) => hasFailedTurn).map(({ session }) => session);
  return {
    sql: `(EXISTS (SELECT 1 FROM turn_usage t WHERE t.session = s.id AND t.failed > 0)
      OR EXISTS (SELECT 1 FROM segments g WHERE g.session = s.id AND g.reason = 'error')
      OR s.id IN (SELECT value FROM json_each(?)))`,
    values: [JSON.stringify([...withMany, ...withFailedTurn])],
  };
}

const NO_FAILURES: Failures = { failed: 0, calls: 0 };

const idsOf = (unsettled: readonly UnsettledTraits[]): string =>
  JSON.stringify(unsettled.map(({ session }) => session));

function containsText(
  db: Database,
  agents: SessionSource["agents"],
  { choices, names, tools }: FilterValues,
  unsettled: readonly UnsettledTraits[],
  text: string,
): Condition {
  const contains = textMatcher(text);
  const open = unsettled.filter((one) => [...one.models, ...one.tools].some(contains)).map(({ session }) => session);
  return {
    sql: `(s.id IN (SELECT value FROM json_each(?))
       OR EXISTS (SELECT 1 FROM usage u WHERE u.session = s.id AND u.model IN (SELECT value FROM json_each(?)))
       OR EXISTS (SELECT 1 FROM tool_usage u WHERE u.session = s.id AND u.name IN (SELECT value FROM json_each(?))))`,
    values: [
      JSON.stringify([...sessionsWithText(db, agents, names, contains), ...open]),
      JSON.stringify(choices.models.filter(contains)),
      JSON.stringify(tools.filter(contains)),
    ],
  };
}

/** Not SQL, because SQLite compares only ASCII letters case-insensitively. */
function textMatcher(searched: string): (text: string) => boolean {
  const lower = searched.toLowerCase();
  return (text) => text.toLowerCase().includes(lower);
}

/** Row ids of the sessions that contain the text, except in the name of a model or tool. */
function sessionsWithText(
  db: Database,
  agents: SessionSource["agents"],
  names: RepositoryNames,
  contains: (text: string) => boolean,
): readonly number[] {
  const sources = new Set(
    agents.filter(({ title, source }) => contains(title) || contains(source)).map(({ source }) => source),
  );
  const rows = db
    .prepare(
      `SELECT s.id, s.source, s.session_id, s.cwd, s.repository,
         coalesce(s.branch, json_extract(s.repository, '$.branch')) AS branch FROM sessions s WHERE ${SHOWN}`,
    )
    .all();
  const nameOf = (repository: unknown): string =>
    typeof repository === "string" ? names.nameOf(JSON.parse(repository) as Repository) : "";
  return rows
    .filter(
      ({ source, session_id, cwd, repository, branch }) =>
        sources.has(String(source)) ||
        [session_id, cwd, branch, nameOf(repository)].some((text) => contains(String(text ?? ""))),
    )
    .map((row) => Number(row["id"]));
}

interface UnsettledTraits {
  readonly session: number;
  readonly models: ReadonlySet<string>;
  readonly tools: ReadonlySet<string>;
  readonly hasFailedTurn: boolean;
  readonly calls: Failures;
}

const unsettledTraits = (db: Database, agents: SessionSource["agents"]): readonly UnsettledTraits[] =>
  unsettledSessions(db).map((session) => {
    const { turns, subagents } = unsettledSession({ db, agents }, sessionById(db, session));
    const runs = [...turns, ...subagents];
    return {
      session,
      models: new Set(runs.flatMap((run) => run.modelCalls.flatMap(({ model }) => model ?? []))),
      tools: new Set(runs.flatMap((run) => run.toolCalls.map(({ name }) => name))),
      hasFailedTurn: turns.some(({ state }) => state === "failed"),
      calls: sumOfFailures(
        runs.flatMap((run) => run.toolCalls.map(({ status }) => ({ failed: status === "error" ? 1 : 0, calls: 1 }))),
      ),
    };
  });
