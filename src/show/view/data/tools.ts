import { grouped } from "#kit/objects.ts";
import type { Database } from "#store/database.ts";
import { wholeQuarters } from "../../report/buckets.ts";
import { usageByGroupings } from "../../report/usage.ts";
import { toolsJson } from "../../report/usage-data.ts";
import { addTo, NO_TOOLS, TOOL_FIGURES } from "../../report/usage-facts.ts";
import type { UsageRow } from "../../report/usage-rows.ts";
import { type FiguresDeps, type FiguresQuery, firstMs, nameOfKey } from "./figures.ts";
import type { RowDeps } from "./rows.ts";
import { sessionIds } from "./sessions.ts";
import type { SessionTools, ToolTimes } from "./tool-times.ts";

/** Calls, outcomes and durations of each tool, and the cost of the model calls after them. */
export function toolsOver(
  db: Database,
  deps: FiguresDeps & RowDeps & { readonly sessionTools: SessionTools },
  { nowMs, ...query }: FiguresQuery,
) {
  const sinceMs = query.sinceMs ?? firstMs(db) ?? nowMs;
  const [tools = [], servers = [], skills = []] = usageByGroupings(db, deps, { ...query, sinceMs }, [
    ["agent", "tool"],
    ["mcp"],
    ["skill"],
  ]);
  const rows = toolRows(db, deps, tools);
  const range = wholeQuarters({ ...query, sinceMs });
  const isWithin = (ms: number): boolean => ms >= range.sinceMs && ms < range.untilMs;
  const sessions = sessionIds(db, deps, { ...query, sinceMs, errors: false });
  const { byTool, byServer, bySkill, ...timed } = deps.sessionTools.over(db, sessions, isWithin, nowMs);
  return {
    kind: "tools" as const,
    sinceMs,
    /** `times`: of the sessions that were read; `null`: these have no such call. */
    rows: rows.map((row) => ({ ...row, times: byTool.get(row.tool) ?? null })),
    /** Sums of the tools of each MCP server, and of the calls of each skill; `null` as name: of none. */
    servers: groupRows(servers, "mcp", byServer),
    skills: groupRows(skills, "skill", bySkill),
    /** How many sessions `times` are of, and how many there are. */
    timed: { sessions: timed.sessions, of: timed.of },
    hasMore: timed.hasMore,
    choices: deps.filterValues(db).choices,
  };
}

export type ToolRow = ReturnType<typeof toolRows>[number];

/** One row per tool, with its agents and its MCP server (`null`: a built-in tool). @param rows by agent and tool */
export function toolRows(db: Database, deps: Pick<FiguresDeps, "agents">, rows: readonly UsageRow[]) {
  const servers = serversOf(db);
  return [...grouped(rows, ({ key }) => key.tool ?? null)].flatMap(([tool, ofAgents]) => {
    const known = ofAgents.filter(({ tools }) => tools !== undefined);
    if (tool === null || known.length === 0) return [];
    const sum = { ...NO_TOOLS };
    for (const { tools } of known) if (tools !== undefined) addTo(sum, tools, TOOL_FIGURES);
    return [
      {
        tool,
        agents: known.map(({ key }) => nameOfKey(deps, "agent", key.agent ?? "") ?? ""),
        server: servers.get(tool) ?? /^mcp__(.+?)__/.exec(tool)?.[1] ?? null,
        sessions: known.reduce((n, { sessions }) => n + sessions, 0),
        ...toolsJson(sum),
      },
    ];
  });
}

// --- internal ---

const groupRows = (rows: readonly UsageRow[], by: "mcp" | "skill", times: ReadonlyMap<string | undefined, ToolTimes>) =>
  rows.flatMap(({ key, sessions, tools }) => {
    const name = key[by] ?? null;
    return tools === undefined
      ? []
      : [{ name, sessions, ...toolsJson(tools), times: times.get(name ?? undefined) ?? null }];
  });

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
