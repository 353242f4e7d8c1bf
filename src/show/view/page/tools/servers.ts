import type { ToolRow } from "../../wire/tools.ts";

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
    calls: sum(({ calls }) => calls),
    errors: sum(({ errors }) => errors),
    denied: sum(({ denied }) => denied),
    unfinished: sum(({ unfinished }) => unfinished),
    open: sum(({ open }) => open),
    toolMs: sum(({ toolMs }) => toolMs),
  };
}
