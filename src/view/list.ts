import type { Repository } from "../model/session.ts";
import type { RepositoryNames } from "../report/repositories.ts";
import { summarise } from "../report/session-summary.ts";
import type { SessionSource } from "../sessions/read-session.ts";
import { unsettledSession } from "../sessions/read-session.ts";
import type { Database, Value } from "../store/database.ts";
import { sessionById, unsettledSessions } from "../store/sessions.ts";
import type { FilterValues } from "./choices.ts";
import { toRow } from "./rows.ts";
import { SHOWN } from "./shown.ts";
import type { SessionList, Sort } from "./wire.ts";

export interface ListQuery {
  readonly agent?: string;
  readonly repository?: string;
  readonly model?: string;
  /** Text in id, agent, repository, branch, folder or a model's name; case-insensitive. */
  readonly text?: string;
  /** Sessions with activity at or after this time that began before `toMs`. */
  readonly fromMs?: number;
  readonly toMs?: number;
  /** Only sessions with a failed tool or turn. */
  readonly errors: boolean;
  readonly sort: Sort;
  /** Descending. */
  readonly falling: boolean;
  readonly limit: number;
}

/** The first sessions that match a query. */
export function listSessions(
  db: Database,
  { agents, known: knownIn }: Pick<SessionSource, "agents"> & { readonly known: (db: Database) => FilterValues },
  query: ListQuery,
): SessionList {
  const known = knownIn(db);
  const where = conditions(db, agents, known, query);
  const order = query.falling ? "DESC" : "ASC";
  const rows = db
    .prepare(
      `SELECT s.id AS id, ${VALUE[query.sort]} AS v FROM sessions s ${JOIN[query.sort]} WHERE ${where.sql}
       ORDER BY v ${order}, s.id ${order} LIMIT ?`,
    )
    .all(...where.values, query.limit);
  const countOf = (sql: string, values: readonly Value[]): number =>
    Number(db.prepare(`SELECT count(*) AS n FROM sessions s WHERE ${sql}`).get(...values)?.["n"] ?? 0);
  return {
    kind: "sessions",
    rows: rows.map((row) =>
      toRow(db, agents, summarise(db, sessionById(db, Number(row["id"])), { agents }), known.names),
    ),
    count: countOf(where.sql, where.values),
    all: countOf(SHOWN, []),
    choices: known.choices,
  };
}

/** SQL: when a session began, as its row shows it; a transcript can contain work before the first hook. */
export const STARTED = `coalesce((SELECT min(min(g.start_ms, coalesce(json_extract(g.totals, '$.firstMs'), g.start_ms)))
  FROM segments g WHERE g.session = s.id), s.first_ms)`;
const REPOSITORY = "json_extract(s.repository, '$.name')";

// --- internal ---

/** Sort keys, from settled data; unknown sorts before everything. */
const VALUE = {
  recent: "s.last_ms",
  started: STARTED,
  tokens: "coalesce(u.tokens, -1)",
  cost: "coalesce(u.cost, -1)",
  errors: "coalesce(t.errors, 0)",
} as const satisfies Record<Sort, string>;

const USED = `LEFT JOIN (SELECT session, sum(input) + sum(output) AS tokens, sum(cost_nano_usd) AS cost FROM usage GROUP BY session) u
  ON u.session = s.id`;
const JOIN = {
  recent: "",
  started: "",
  tokens: USED,
  cost: USED,
  errors:
    "LEFT JOIN (SELECT session, sum(errors + denied) AS errors FROM tool_usage GROUP BY session) t ON t.session = s.id",
} as const satisfies Record<Sort, string>;

interface Conditions {
  readonly sql: string;
  readonly values: readonly Value[];
}

function conditions(
  db: Database,
  agents: SessionSource["agents"],
  { choices, repositories, names }: FilterValues,
  query: ListQuery,
): Conditions {
  const parts: string[] = [SHOWN];
  const values: Value[] = [];
  const and = (sql: string, ...more: readonly Value[]): void => {
    parts.push(sql);
    values.push(...more);
  };
  if (query.agent !== undefined) and("s.source = ?", query.agent);
  if (query.repository !== undefined) {
    const { repository } = query;
    const meant = repositories.filter((one) => names.isMeant(one, repository));
    and(
      `EXISTS (SELECT 1 FROM json_each(?) m WHERE json_extract(m.value, '$.name') = ${REPOSITORY}
        AND json_extract(m.value, '$.url') IS json_extract(s.repository, '$.url'))`,
      JSON.stringify(meant),
    );
  }
  if (query.fromMs !== undefined) and("s.last_ms >= ?", query.fromMs);
  if (query.toMs !== undefined) and(`${STARTED} < ?`, query.toMs);
  // Unsettled data is in no table that SQL could filter, so these few sessions are checked one by one
  const open = query.model !== undefined || query.errors ? openTraits(db, agents) : [];
  const numbers = (has: (traits: OpenTraits) => boolean): string =>
    JSON.stringify(open.filter(has).map(({ session }) => session));
  if (query.model !== undefined) {
    const { model } = query;
    and(
      "(EXISTS (SELECT 1 FROM usage u WHERE u.session = s.id AND u.model = ?) OR s.id IN (SELECT value FROM json_each(?)))",
      model,
      numbers(({ models }) => models.has(model)),
    );
  }
  if (query.errors) {
    and(
      `(EXISTS (SELECT 1 FROM tool_usage t WHERE t.session = s.id AND t.errors > 0)
        OR EXISTS (SELECT 1 FROM turn_usage t WHERE t.session = s.id AND t.failed > 0)
        OR EXISTS (SELECT 1 FROM segments g WHERE g.session = s.id AND g.reason = 'error')
        OR s.id IN (SELECT value FROM json_each(?)))`,
      numbers(({ hasErrors }) => hasErrors),
    );
  }
  if (query.text !== undefined && query.text !== "") {
    const has = finder(query.text);
    and(
      `(s.id IN (SELECT value FROM json_each(?)) OR EXISTS (SELECT 1 FROM usage u
         WHERE u.session = s.id AND u.model IN (SELECT value FROM json_each(?))))`,
      JSON.stringify(sessionsNamed(db, agents, names, has)),
      JSON.stringify(choices.models.filter(has)),
    );
  }
  return { sql: parts.join(" AND "), values };
}

/** SQLite's case-insensitivity covers ASCII only. */
function finder(text: string): (of: string) => boolean {
  const wanted = text.toLowerCase();
  return (of) => of.toLowerCase().includes(wanted);
}

/** Numbers of the sessions with the text anywhere but in a model's name. */
function sessionsNamed(
  db: Database,
  agents: SessionSource["agents"],
  names: RepositoryNames,
  has: (of: string) => boolean,
): readonly number[] {
  const found = new Set(agents.filter(({ title, source }) => has(title) || has(source)).map(({ source }) => source));
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
        found.has(String(source)) || [session_id, cwd, branch, nameOf(repository)].some((of) => has(String(of ?? ""))),
    )
    .map((row) => Number(row["id"]));
}

interface OpenTraits {
  readonly session: number;
  readonly models: ReadonlySet<string>;
  readonly hasErrors: boolean;
}

const openTraits = (db: Database, agents: SessionSource["agents"]): readonly OpenTraits[] =>
  unsettledSessions(db).map((session) => {
    const { turns, subagents } = unsettledSession({ db, agents }, sessionById(db, session));
    const runs = [...turns, ...subagents];
    return {
      session,
      models: new Set(runs.flatMap((run) => run.modelCalls.flatMap(({ model }) => model ?? []))),
      hasErrors:
        turns.some(({ state }) => state === "failed") ||
        runs.some((run) => run.toolCalls.some(({ status }) => status === "error")),
    };
  });
