import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Failures, sumOfFailures } from "../../../../kit/text/failure-share.ts";
import type { ToolRow } from "../../wire/tools.ts";
import { failureClass } from "../figures/failures.ts";
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
  const maxCalls = Math.max(1, ...rows.map(({ calls }) => calls));
  return (
    <FigureTable
      heading={heading}
      rows={rows.toSorted((a, b) => sortValue(b) - sortValue(a))}
      keyOf={({ agent, tool }) => `${agent}/${tool}`}
      nameOf={nameOf}
      share={{ name: "Share of calls", of: ({ calls }) => calls / maxCalls }}
      columns={columns}
      sortingOf={({ name }) => ({
        direction: name === sortedBy ? "descending" : undefined,
        onSort: () => setSortedBy(name),
      })}
    />
  );
}

// --- internal ---

interface ToolColumn extends Column<ToolRow> {
  /** What it is sorted by. */
  readonly value: (row: ToolRow) => number;
}

const columnsOf = (usual: Failures): readonly ToolColumn[] => [
  { name: "Calls", value: ({ calls }) => calls, cell: ({ calls }) => exact(calls) },
  { name: "Failed", value: ({ errors }) => errors, cell: (row) => <Failed row={row} usual={usual} /> },
  { name: "Denied", value: ({ denied }) => denied, cell: ({ denied }) => exact(denied) },
  {
    name: "Unfinished",
    value: ({ unfinished, open }) => unfinished + open,
    cell: ({ unfinished, open }) => `${exact(unfinished)}${open > 0 ? ` + ${exact(open)} running` : ""}`,
  },
  { name: "Time", value: ({ toolMs }) => toolMs, cell: ({ toolMs }) => duration(toolMs) },
  { name: "Average", value: averageMs, cell: (row) => duration(averageMs(row)) },
];

function Failed({ row, usual }: { row: ToolRow; usual: Failures }) {
  const { errors, calls } = row;
  if (errors === 0) return <>0</>;
  const text = `${exact(errors)} (${percent(errors, calls)})`;
  return <span class={failureClass(failuresOf(row), usual)}>{text}</span>;
}

const failuresOf = ({ errors, calls }: ToolRow): Failures => ({ failed: errors, calls });

function averageMs({ toolMs, calls }: ToolRow): number {
  return calls === 0 ? 0 : toolMs / calls;
}
