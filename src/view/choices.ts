import { cardOf } from "../model/card-of.ts";
import type { Repository } from "../model/session.ts";
import { type RepositoryNames, repositoryNames } from "../report/repositories.ts";
import type { SessionSource } from "../sessions/read-session.ts";
import type { Database } from "../store/database.ts";
import { SHOWN } from "./shown.ts";
import type { Choices } from "./wire.ts";

/** What the filters can be set to, and the repositories among it as they are told apart. */
export interface Known {
  readonly choices: Choices;
  readonly repositories: readonly Repository[];
  readonly names: RepositoryNames;
}

/**
 * Looks at all that there is. In a large store that takes a while, and hardly ever changes: an answer is kept for as long
 * as makes looking a small part of the time.
 */
export function rememberKnown({ agents }: Pick<SessionSource, "agents">): (db: Database) => Known {
  let last: { readonly known: Known; readonly untilMs: number } | undefined;
  return (db) => {
    const startMs = performance.now();
    if (last !== undefined && startMs < last.untilMs) return last.known;
    const known = knownIn(db, agents);
    const endMs = performance.now();
    last = { known, untilMs: endMs + (endMs - startMs) * KEPT_TIMES };
    return known;
  };
}

// --- internal ---

const KEPT_TIMES = 50;

function knownIn(db: Database, agents: SessionSource["agents"]): Known {
  const repositories = db
    .prepare(
      `SELECT DISTINCT json_extract(repository, '$.name') AS name, json_extract(repository, '$.url') AS url
       FROM sessions s WHERE ${SHOWN} AND repository IS NOT NULL`,
    )
    .all()
    .map(({ name, url }): Repository => ({ name: String(name), ...(typeof url === "string" && { url }) }));
  const names = repositoryNames(repositories);
  return { choices: choicesOf(db, agents, repositories.map(names.nameOf)), repositories, names };
}

function choicesOf(db: Database, agents: SessionSource["agents"], repositories: readonly string[]): Choices {
  const column = (sql: string): readonly string[] =>
    db
      .prepare(sql)
      .all()
      .map((row) => String(row["name"]));
  return {
    agents: column(`SELECT DISTINCT source AS name FROM sessions s WHERE ${SHOWN} ORDER BY name`).map((source) => ({
      source,
      agent: cardOf({ agents }, source)?.title ?? source,
    })),
    repositories: [...new Set(repositories)].sort(),
    models: column("SELECT DISTINCT model AS name FROM usage WHERE model IS NOT NULL ORDER BY name"),
  };
}
