import { cardOf, type DrainDeps } from "../drain/deps.ts";
import type { Database } from "../store/database.ts";
import { REPOSITORY, SHOWN } from "./list.ts";
import type { Choices } from "./wire.ts";

/**
 * What the filters can be set to. In a large store that takes a while, and hardly ever changes: an answer is kept for as
 * long as makes looking a small part of the time.
 */
export function rememberChoices({ agents }: Pick<DrainDeps, "agents">): (db: Database) => Choices {
  let known: { readonly choices: Choices; readonly untilMs: number } | undefined;
  return (db) => {
    const startMs = performance.now();
    if (known !== undefined && startMs < known.untilMs) return known.choices;
    const choices = choicesOf(db, agents);
    const endMs = performance.now();
    known = { choices, untilMs: endMs + (endMs - startMs) * KEPT_TIMES };
    return choices;
  };
}

// --- internal ---

const KEPT_TIMES = 50;

function choicesOf(db: Database, agents: DrainDeps["agents"]): Choices {
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
    repositories: column(
      `SELECT DISTINCT ${REPOSITORY} AS name FROM sessions s WHERE ${SHOWN} AND repository IS NOT NULL ORDER BY name`,
    ),
    models: column("SELECT DISTINCT model AS name FROM usage WHERE model IS NOT NULL ORDER BY name"),
  };
}
