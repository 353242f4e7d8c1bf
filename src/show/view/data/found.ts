import type { Database } from "#store/database.ts";
import { readStore } from "#store/read-only.ts";
import { sessionById } from "#store/sessions.ts";
import { summarise } from "../../report/session-summary.ts";
import type { ViewDeps } from "../deps.ts";
import { toRow } from "./rows.ts";
import { type ListDeps, type ListFilters, sessionIds } from "./sessions.ts";

type Deps = ListDeps & Pick<ViewDeps, "foundIn" | "storePath">;

/**
 * Searches the agents' files for sessions that match the filters and do not contain the text in the store, newest first. Nothing of the
 * files is stored.
 *
 * @param after number of sessions that earlier requests searched
 */
export function foundOver(db: Database, deps: Deps, { text = "", ...filters }: ListFilters, after: number) {
  const { foundIn } = deps;
  const isSearch = foundIn !== undefined && text !== "";
  const inStore = new Set(isSearch ? sessionIds(db, deps, { ...filters, text }) : []);
  const ids = isSearch ? sessionIds(db, deps, filters).filter((id) => !inStore.has(id)) : [];
  const sessions = ids.slice(after, after + MAX_SESSIONS).map((id) => sessionById(db, id));
  return async () => {
    const { lines, searched } = (await foundIn?.(sessions, text, after === 0)) ?? {
      lines: new Map<number, string>(),
      searched: 0,
    };
    const end = Math.min(ids.length, after + searched);
    const rows = readStore(deps.storePath, (db) =>
      [...lines].map(([id, line]) => {
        const summary = summarise(db, sessionById(db, id), { agents: deps.agents });
        return { row: toRow(db, deps, summary, deps.filterValues(db).names), line };
      }),
    );
    return {
      kind: "found" as const,
      /** Each with the line that contains the text. */
      rows: rows ?? [],
      searched: end,
      /** All sessions to be searched. */
      total: ids.length,
      /** The next request's `after`; `null`: everything was searched. */
      next: end < ids.length ? end : null,
    };
  };
}

// --- internal ---

/** Of one request, which ends after a short time in any case. */
const MAX_SESSIONS = 1000;
