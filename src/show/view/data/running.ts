import type { Database } from "#store/database.ts";
import { unsettledSession } from "#store/sessions/unsettled-session.ts";
import { idleSessions, sessionById } from "#store/sessions.ts";
import { summarise } from "../../report/session-summary.ts";
import { toolTitle } from "../../report/tool-title.ts";
import type { FilterValues } from "./filter-values.ts";
import { type RowDeps, toRow } from "./rows.ts";
import { SHOWN } from "./session-sql.ts";

/** The open sessions with recent activity, the latest first. */
export function runningSessions(db: Database, deps: RowDeps, { names }: Pick<FilterValues, "names">) {
  const { agents, idle } = deps;
  const ids = db
    .prepare(
      `SELECT s.id AS id FROM sessions s WHERE ${SHOWN} AND s.last_ms >= ? AND s.id IN (SELECT value FROM json_each(?))
       ORDER BY s.last_ms DESC, s.id DESC LIMIT ?`,
    )
    .all(idle.nowMs - idle.idleTimeoutMs, JSON.stringify(idleSessions(db, Number.MAX_SAFE_INTEGER)), MAX_RUNNING)
    .map((row) => Number(row["id"]));
  return ids.flatMap((id) => {
    const stored = sessionById(db, id);
    const row = toRow(db, deps, summarise(db, stored, { agents }), names);
    if (row.ending.state !== "open") return [];
    const { turns, subagents } = unsettledSession({ db, agents }, stored);
    const turn = turns.findLast(({ state, origin }) => state === "open" && origin !== "none");
    const tools = [...turns, ...subagents]
      .flatMap(({ toolCalls }) => toolCalls)
      .filter(({ status }) => status === "open")
      .map(({ name, mcpServer, startMs }) => ({ name: toolTitle(name, mcpServer), startMs }));
    return [
      {
        row,
        /** `null`: the agent waits for the user. */
        turnStartMs: turn?.startMs ?? null,
        /** Tool calls that run now. */
        tools,
      },
    ];
  });
}

// --- internal ---

/** More do not fit on a screen. */
const MAX_RUNNING = 30;
