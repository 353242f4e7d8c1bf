import type { Agent } from "#core/model/agent.ts";
import type { ToolCall } from "#core/model/session.ts";
import { cardOf } from "#core/rules/cards.ts";
import type { Database } from "#store/database.ts";
import { wholeQuarters } from "./buckets.ts";
import type { UsageQuery } from "./query.ts";
import { countedSessions } from "./usage-sessions.ts";

/** Web searches that a tool sends in a request of its own: neither its tokens nor its fee are in the agent's files. */
export interface UnseenSearches {
  readonly agent: string;
  readonly tool: string;
  readonly calls: number;
}

/** Those of a report, most calls first; none if it is about one model, because no model is known of them. */
export function unseenSearches(
  db: Database,
  { agents }: { readonly agents: readonly Agent[] },
  query: Omit<UsageQuery, "by">,
): readonly UnseenSearches[] {
  const tools = agents.flatMap(({ searchTools = [] }) => searchTools);
  if (query.model !== undefined || query.ledTo !== undefined) return [];
  const { sinceMs, untilMs } = wholeQuarters(query);
  const rows = db
    .prepare(
      `SELECT session, name, sum(calls - denied - unfinished) AS n FROM tool_usage
       WHERE name IN (SELECT value FROM json_each(?)) AND time_ms >= ? AND time_ms < ? GROUP BY session, name`,
    )
    .all(JSON.stringify(tools), sinceMs, Math.min(untilMs, Number.MAX_SAFE_INTEGER));
  if (rows.length === 0) return [];
  const sessions = countedSessions(db, { agents }, query);
  const found = rows.flatMap((row): readonly UnseenSearches[] => {
    const agent = sessions.get(Number(row["session"]))?.agent;
    return agent === undefined ? [] : [{ agent, tool: String(row["name"]), calls: Number(row["n"]) }];
  });
  return summed(agents, found);
}

/** Those of one session. */
export const unseenIn = (
  agents: readonly Agent[],
  agent: string,
  toolCalls: readonly { readonly tool: ToolCall }[],
): readonly UnseenSearches[] =>
  summed(
    agents,
    toolCalls
      .filter(({ tool: { status } }) => status === "success" || status === "error")
      .map(({ tool: { name } }) => ({ agent, tool: name, calls: 1 })),
  );

// --- internal ---

/** Only of the agents whose tools they are: another agent's tool can have the same name. */
function summed(agents: readonly Agent[], found: readonly UnseenSearches[]): readonly UnseenSearches[] {
  const sums = new Map<string, UnseenSearches>();
  for (const one of found) {
    if (cardOf({ agents }, one.agent)?.searchTools?.includes(one.tool) !== true || one.calls === 0) continue;
    const key = JSON.stringify([one.agent, one.tool]);
    sums.set(key, { ...one, calls: one.calls + (sums.get(key)?.calls ?? 0) });
  }
  return [...sums.values()].sort((a, b) => b.calls - a.calls);
}
