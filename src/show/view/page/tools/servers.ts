import type { ToolRow } from "../../wire/documents.ts";

/** The sums of each MCP server, with its name as that of a tool. */
export function byServer(rows: readonly ToolRow[]): readonly ToolRow[] {
  const servers = new Map<string, ToolRow[]>();
  for (const row of rows) {
    const server = serverOf(row);
    if (servers.get(server)?.push(row) === undefined) servers.set(server, [row]);
  }
  return [...servers].map(([name, tools]) => sumOf(tools, name));
}

/** The MCP server of a tool. */
export const serverOf = ({ server }: ToolRow): string => server ?? "Built-in";

/** Several tools as one with this name. */
export function sumOf(rows: readonly ToolRow[], name: string): ToolRow {
  const sum = (pick: (row: ToolRow) => number): number => rows.reduce((n, row) => n + pick(row), 0);
  return {
    agent: "",
    tool: name,
    server: null,
    sessions: 0,
    tool_calls: sum(({ tool_calls }) => tool_calls),
    tool_errors: sum(({ tool_errors }) => tool_errors),
    tool_denied: sum(({ tool_denied }) => tool_denied),
    tool_unfinished: sum(({ tool_unfinished }) => tool_unfinished),
    tool_open: sum(({ tool_open }) => tool_open),
    tool_ms: sum(({ tool_ms }) => tool_ms),
  };
}

/** `mcp__<server>__<tool>` without the server, which is shown beside it. */
export const toolName = ({ tool, server }: Pick<ToolRow, "tool" | "server">): string =>
  server !== null && tool.startsWith(`mcp__${server}__`) ? tool.slice(`mcp__${server}__`.length) : tool;
