import { cardOf } from "#core/rules/cards.ts";
import type { Database } from "#store/database.ts";
import { settledToolNames } from "#store/session-list.ts";
import { knownFactsOf } from "#store/sessions/read-session.ts";
import { sessionById } from "#store/sessions.ts";
import type { Agents } from "./session-summary.ts";

/** The sessions whose stored facts contain a text: id, agent, repository, branch, folder, models, tools; case-insensitive. */
export function foundInStore(
  db: Database,
  ids: readonly number[],
  text: string,
  { agents }: Agents,
): ReadonlySet<number> {
  const searched = text.toLowerCase();
  const modelsOf = db.prepare("SELECT DISTINCT model FROM usage WHERE session = ?");
  const found = new Set<number>();
  for (const id of ids) {
    const stored = sessionById(db, id);
    const { repository } = knownFactsOf(db, { agents }, stored);
    const texts = [
      ...[stored.sessionId, stored.source, cardOf({ agents }, stored.source)?.title, stored.cwd],
      ...[repository?.name, repository?.branch ?? stored.branch],
      ...modelsOf.all(id).map((row) => row["model"]),
      ...settledToolNames(db, id, MAX_TOOLS),
    ];
    if (texts.some((one) => typeof one === "string" && one.toLowerCase().includes(searched))) found.add(id);
  }
  return found;
}

// --- internal ---

/** Of one session; more than any has. */
const MAX_TOOLS = 1000;
