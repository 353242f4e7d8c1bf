import type { Repository } from "#core/model/session.ts";
import { cardOf } from "#core/rules/cards.ts";
import type { Database } from "#store/database.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import { type RepositoryNames, storedRepositories } from "../../report/repositories.ts";

/** The choices of the filters. */
export interface Choices {
  readonly agents: readonly { readonly source: string; readonly agent: string }[];
  readonly repositories: readonly string[];
  readonly models: readonly string[];
}

/** The values that filters offer, and the repositories with distinct display names. */
export interface FilterValues {
  readonly choices: Choices;
  readonly repositories: readonly Repository[];
  /** Working folders of sessions without a repository; the last part of the path is their name. */
  readonly folders: readonly string[];
  readonly names: RepositoryNames;
  /** Tools that were called, for searches. */
  readonly tools: readonly string[];
}

/**
 * Queries all values. That is slow in a large store and they rarely change, so a result is cached for 50 times as long as the query
 * took.
 */
export function cachedFilterValues({ agents }: Pick<SessionSource, "agents">): (db: Database) => FilterValues {
  let cached: { readonly values: FilterValues; readonly untilMs: number } | undefined;
  return (db) => {
    const startMs = performance.now();
    if (cached !== undefined && startMs < cached.untilMs) return cached.values;
    const values = queryFilterValues(db, agents);
    const endMs = performance.now();
    cached = { values, untilMs: endMs + (endMs - startMs) * CACHE_FACTOR };
    return values;
  };
}

/** SQL condition for the sessions that the page lists: not subagents, not pruned, not of excluded projects. */
export const SHOWN = "s.parent IS NULL AND s.pruned_ms IS NULL AND s.excluded = 0";

/** SQL: the start of a session as its row shows it; a transcript can contain work before the first hook. */
export const STARTED = `coalesce((SELECT min(min(g.start_ms, coalesce(json_extract(g.totals, '$.firstMs'), g.start_ms)))
  FROM segments g WHERE g.session = s.id), s.first_ms)`;

// --- internal ---

const CACHE_FACTOR = 50;

function queryFilterValues(db: Database, agents: SessionSource["agents"]): FilterValues {
  const { repositories, folders, named, names } = storedRepositories(db, SHOWN);
  const tools = namesIn(db, "SELECT DISTINCT name FROM tool_usage");
  return { choices: choicesOf(db, agents, named.map(names.nameOf)), repositories, folders, names, tools };
}

const namesIn = (db: Database, sql: string): readonly string[] =>
  db
    .prepare(sql)
    .all()
    .map((row) => String(row["name"]));

function choicesOf(db: Database, agents: SessionSource["agents"], repositories: readonly string[]): Choices {
  return {
    agents: namesIn(db, `SELECT DISTINCT source AS name FROM sessions s WHERE ${SHOWN} ORDER BY name`).map(
      (source) => ({
        source,
        agent: cardOf({ agents }, source)?.title ?? source,
      }),
    ),
    repositories: [...new Set(repositories)].sort(),
    models: namesIn(db, "SELECT DISTINCT model AS name FROM usage WHERE model IS NOT NULL ORDER BY name"),
  };
}
