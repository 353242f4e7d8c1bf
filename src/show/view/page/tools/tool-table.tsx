import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Failures, sumOfFailures } from "#kit/text/failure-share.ts";
import type { ToolRow } from "../../wire/documents.ts";
import { failureClass } from "../figures/compare.ts";
import { type Column, FigureTable } from "../figures/table.tsx";
import { duration, exact, percent } from "../text/format.ts";

interface Props {
  /** Head of the first column. */
  readonly heading: string;
  readonly nameOf: (row: ToolRow) => ComponentChildren;
  readonly rows: readonly ToolRow[];
}

/** Tools or groups of tools, sortable by each column. */
export function ToolTable({ heading, nameOf, rows }: Props) {
  const [sortedBy, setSortedBy] = useState("Calls");
  const columns = columnsOf(sumOfFailures(rows.map(failuresOf)));
  const sortValue = columns.find(({ name }) => name === sortedBy)?.value ?? (() => 0);
  const maxCalls = Math.max(1, ...rows.map(({ tool_calls }) => tool_calls));
  return (
    <FigureTable
      heading={heading}
      rows={rows.toSorted((a, b) => sortValue(b) - sortValue(a))}
      keyOf={({ agent, tool }) => `${agent}/${tool}`}
      nameOf={nameOf}
      share={{ name: "Share of calls", of: ({ tool_calls }) => tool_calls / maxCalls }}
      columns={columns}
      sortingOf={({ name }) => ({
        direction: name === sortedBy ? "descending" : undefined,
        onSort: () => setSortedBy(name),
      })}
    />
  );
}

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

// --- internal ---

interface ToolColumn extends Column<ToolRow> {
  /** What it is sorted by. */
  readonly value: (row: ToolRow) => number;
}

const columnsOf = (usual: Failures): readonly ToolColumn[] => [
  { name: "Calls", value: ({ tool_calls }) => tool_calls, cell: ({ tool_calls }) => exact(tool_calls) },
  { name: "Failed", value: ({ tool_errors }) => tool_errors, cell: (row) => <Failed row={row} usual={usual} /> },
  { name: "Denied", value: ({ tool_denied }) => tool_denied, cell: ({ tool_denied }) => exact(tool_denied) },
  {
    name: "Unfinished",
    value: ({ tool_unfinished, tool_open }) => tool_unfinished + tool_open,
    cell: ({ tool_unfinished, tool_open }) =>
      `${exact(tool_unfinished)}${tool_open > 0 ? ` + ${exact(tool_open)} running` : ""}`,
  },
  { name: "Time", value: ({ tool_ms }) => tool_ms, cell: ({ tool_ms }) => duration(tool_ms) },
  { name: "Average", value: averageMs, cell: (row) => duration(averageMs(row)) },
];

function Failed({ row, usual }: { row: ToolRow; usual: Failures }) {
  const { tool_errors, tool_calls } = row;
  if (tool_errors === 0) return <>0</>;
  const text = `${exact(tool_errors)} (${percent(tool_errors, tool_calls)})`;
  return <span class={failureClass(failuresOf(row), usual)}>{text}</span>;
}

const failuresOf = ({ tool_errors, tool_calls }: ToolRow): Failures => ({ failed: tool_errors, calls: tool_calls });

function averageMs({ tool_ms, tool_calls }: ToolRow): number {
  return tool_calls === 0 ? 0 : tool_ms / tool_calls;
}
