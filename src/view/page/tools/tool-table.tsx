import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Failures, sumOfFailures } from "../../../text/failure-share.ts";
import type { ToolRow } from "../../wire.ts";
import { failureClass } from "../failures.ts";
import { duration, exact, percent } from "../format.ts";

interface Props {
  /** Heading of the first column. */
  readonly heading: string;
  readonly rows: readonly { readonly key: string; readonly cell: ComponentChildren; readonly sums: ToolRow }[];
}

/** Tools or groups of tools, sortable by each column. */
export function ToolTable({ heading, rows }: Props) {
  const [by, setBy] = useState<Column>("calls");
  const sorted = [...rows].sort((a, b) => COLUMNS[by].value(b.sums) - COLUMNS[by].value(a.sums));
  const usual = sumOfFailures(rows.map(({ sums }) => failuresOf(sums)));
  const maxCalls = Math.max(1, ...rows.map(({ sums }) => sums.calls));
  return (
    <div class="scroll">
      <table class="figures sortable">
        <thead>
          <tr>
            <th scope="col">{heading}</th>
            <th scope="col" class="share">
              <span class="sr">Share of calls</span>
            </th>
            {NAMES.map((name) => (
              <th key={name} scope="col" class="number" aria-sort={by === name ? "descending" : undefined}>
                <button type="button" class="sort" onClick={() => setBy(name)}>
                  {COLUMNS[name].title}
                  {by === name ? <span aria-hidden="true"> ▼</span> : null}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map(({ key, cell, sums }) => (
            <tr key={key}>
              <th scope="row">{cell}</th>
              <td class="share">
                <span class="meter" aria-hidden="true">
                  <span style={{ width: `${(sums.calls / maxCalls) * 100}%` }} />
                </span>
              </td>
              {NAMES.map((name) => (
                <td
                  key={name}
                  class={
                    name === "errors" && sums.errors > 0 ? `number ${failureClass(failuresOf(sums), usual)}` : "number"
                  }
                  data-name={COLUMNS[name].title}
                >
                  {COLUMNS[name].text(sums)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

// --- internal ---

type Column = "calls" | "errors" | "denied" | "unfinished" | "time" | "average";

const failuresOf = ({ errors, calls }: ToolRow): Failures => ({ failed: errors, calls });

const averageMs = ({ toolMs, calls }: ToolRow): number => (calls === 0 ? 0 : toolMs / calls);

const COLUMNS: Readonly<
  Record<
    Column,
    { readonly title: string; readonly value: (row: ToolRow) => number; readonly text: (row: ToolRow) => string }
  >
> = {
  calls: { title: "Calls", value: ({ calls }) => calls, text: ({ calls }) => exact(calls) },
  errors: {
    title: "Failed",
    value: ({ errors }) => errors,
    text: ({ errors, calls }) => (errors === 0 ? "0" : `${exact(errors)} (${percent(errors, calls)})`),
  },
  denied: { title: "Denied", value: ({ denied }) => denied, text: ({ denied }) => exact(denied) },
  unfinished: {
    title: "Unfinished",
    value: ({ unfinished, open }) => unfinished + open,
    text: ({ unfinished, open }) => `${exact(unfinished)}${open > 0 ? ` + ${exact(open)} running` : ""}`,
  },
  time: { title: "Time", value: ({ toolMs }) => toolMs, text: ({ toolMs }) => duration(toolMs) },
  average: { title: "Average", value: averageMs, text: (row) => duration(averageMs(row)) },
};
const NAMES = ["calls", "errors", "denied", "unfinished", "time", "average"] as const satisfies readonly Column[];
