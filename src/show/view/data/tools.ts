import type { Database } from "#store/database.ts";
import { usage } from "../../report/usage.ts";
import { toolsJson } from "../../report/usage-data.ts";
import type { UsageRow } from "../../report/usage-rows.ts";
import { type FiguresDeps, type FiguresQuery, firstMs, nameOfKey } from "./figures.ts";

/** Calls, outcomes and duration of each tool. */
export function toolsOver(db: Database, deps: FiguresDeps, { nowMs, ...query }: FiguresQuery) {
  const sinceMs = query.sinceMs ?? firstMs(db) ?? nowMs;
  return {
    kind: "tools" as const,
    sinceMs,
    rows: toolRows(db, deps, usage(db, deps, { ...query, sinceMs, by: ["agent", "tool"] })),
    choices: deps.filterValues(db).choices,
  };
}

export type ToolRow = ReturnType<typeof toolRows>[number];

/** Rows by agent and tool: as in `report --json`, with the agent's name and the tool's MCP server (`null`: a built-in tool). */
export function toolRows(db: Database, deps: Pick<FiguresDeps, "agents">, rows: readonly UsageRow[]) {
  const servers = serversOf(db);
  return rows.flatMap(({ key, tools, sessions }) => {
    const tool = key.tool ?? null;
    if (tools === undefined || tool === null) return [];
    const server = servers.get(tool) ?? /^mcp__(.+?)__/.exec(tool)?.[1] ?? null;
    const agent = nameOfKey(deps, "agent", key.agent ?? "") ?? "";
    return [{ agent, tool, server, sessions, ...toolsJson(tools) }];
  });
}

// --- internal ---

/** MCP servers by tool name, for tools whose names do not contain the server. */
const serversOf = (db: Database): ReadonlyMap<string, string> =>
  new Map(
    db
      .prepare(
        `SELECT name, CASE count(DISTINCT mcp_server) WHEN 1 THEN min(mcp_server) ELSE 'several servers' END AS server
         FROM tool_usage WHERE mcp_server IS NOT NULL GROUP BY name`,
      )
      .all()
      .map((row) => [String(row["name"]), String(row["server"])]),
  );
