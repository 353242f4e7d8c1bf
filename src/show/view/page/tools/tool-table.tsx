import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Failures, sumOfFailures } from "#kit/text/failure-share.ts";
import type { ToolRow, ToolsDocument } from "../../wire/documents.ts";
import { failureClass } from "../figures/compare.ts";
import { Cost, Unknown } from "../figures/figures.tsx";
import { type Column, FigureTable } from "../figures/table.tsx";
import { hrefOf } from "../route.ts";
import { duration, exact, percent } from "../text/format.ts";

/** A tool, or several as one; `times` is absent for several. */
type TableRow = ToolRow & { readonly times?: Times | null };
type Times = NonNullable<ToolsDocument["rows"][number]["times"]>;

interface Props {
  /** Head of the first column. */
  readonly heading: string;
  readonly nameOf: (row: TableRow) => ComponentChildren;
  readonly rows: readonly TableRow[];
  /** Where the failures of a row lead. @default nowhere */
  readonly hrefOfFailures?: (row: TableRow) => string;
}

/** Tools or groups of tools, sortable by each column. */
export function ToolTable({ heading, nameOf, rows, hrefOfFailures }: Props) {
  const [sortedBy, setSortedBy] = useState("Calls");
  const all = columnsOf(sumOfFailures(rows.map(failuresOf)), hrefOfFailures);
  const columns = rows.some(({ times }) => times !== undefined) ? [...all, ...TIMES] : all;
  const sortValue = columns.find(({ name }) => name === sortedBy)?.value ?? (() => 0);
  const maxCalls = Math.max(1, ...rows.map(({ tool_calls }) => tool_calls));
  return (
    <FigureTable
      heading={heading}
      rows={rows.toSorted((a, b) => sortValue(b) - sortValue(a))}
      keyOf={({ tool }) => tool}
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

/** MCP servers or skills as tools of these names. @param none the name of all calls of none */
export const groupRows = (rows: ToolsDocument["servers"], none: string): readonly TableRow[] =>
  rows.map(({ name, ...figures }) => ({ agents: [], server: null, ...figures, tool: name ?? none }));

/** The MCP server of a tool. */
export const serverOf = ({ server }: ToolRow): string => server ?? BUILT_IN;
export const BUILT_IN = "Built-in";

/** Several tools as one with this name. */
export function sumOf(rows: readonly ToolRow[], name: string): ToolRow {
  const sum = (pick: (row: ToolRow) => number): number => rows.reduce((n, row) => n + pick(row), 0);
  return {
    agents: [],
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

interface ToolColumn extends Column<TableRow> {
  /** What it is sorted by. */
  readonly value: (row: TableRow) => number;
}

const columnsOf = (usual: Failures, hrefOfFailures: Props["hrefOfFailures"]): readonly ToolColumn[] => [
  { name: "Calls", value: ({ tool_calls }) => tool_calls, cell: ({ tool_calls }) => exact(tool_calls) },
  {
    name: "Failed",
    value: ({ tool_errors }) => tool_errors,
    cell: (row) => <Failed row={row} usual={usual} href={hrefOfFailures?.(row)} />,
  },
  { name: "Denied", value: ({ tool_denied }) => tool_denied, cell: ({ tool_denied }) => exact(tool_denied) },
  {
    name: "Unfinished",
    value: ({ tool_unfinished, tool_open }) => tool_unfinished + tool_open,
    cell: ({ tool_unfinished, tool_open }) =>
      `${exact(tool_unfinished)}${tool_open > 0 ? ` + ${exact(tool_open)} running` : ""}`,
  },
  { name: "Time", value: ({ tool_ms }) => tool_ms, cell: ({ tool_ms }) => duration(tool_ms) },
];

/** Unknown sorts below every known value. */
const TIMES: readonly ToolColumn[] = [
  { name: "p50", value: ({ times }) => times?.p50Ms ?? -1, cell: ({ times }) => msOrUnknown(times?.p50Ms) },
  { name: "p95", value: ({ times }) => times?.p95Ms ?? -1, cell: ({ times }) => msOrUnknown(times?.p95Ms) },
  {
    name: "Slowest",
    value: ({ times }) => times?.slowest?.ms ?? -1,
    cell: ({ times }) => (times?.slowest ? <Slowest of={times.slowest} /> : <Unknown />),
  },
  {
    name: "Cost after",
    value: ({ times }) => times?.cost_usd ?? -1,
    cell: ({ times }) => (times ? <Cost of={times} /> : <Unknown />),
  },
];

const msOrUnknown = (ms: number | null | undefined): ComponentChildren =>
  ms === null || ms === undefined ? <Unknown /> : duration(ms);

const Slowest = ({ of: { source, session, span, ms } }: { of: NonNullable<Times["slowest"]> }) => (
  <a href={hrefOf("session", { source, id: session, span })}>{duration(ms)}</a>
);

function Failed({ row, usual, href }: { row: ToolRow; usual: Failures; href: string | undefined }) {
  const { tool_errors, tool_calls } = row;
  if (tool_errors === 0) return <>0</>;
  const text = `${exact(tool_errors)} (${percent(tool_errors, tool_calls)})`;
  const style = failureClass(failuresOf(row), usual);
  return href === undefined ? (
    <span class={style}>{text}</span>
  ) : (
    <a class={style} href={href}>
      {text}
    </a>
  );
}

const failuresOf = ({ tool_errors, tool_calls }: ToolRow): Failures => ({ failed: tool_errors, calls: tool_calls });
