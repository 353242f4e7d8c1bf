import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ToolRow } from "../../wire.ts";
import { duration, exact, percent } from "../format.ts";

interface Props {
  /** Heading of the first column. */
  readonly first: string;
  readonly rows: readonly { readonly key: string; readonly cell: ComponentChildren; readonly sums: ToolRow }[];
}

export function ToolTable({ first, rows }: Props) {
  const [by, setBy] = useState<Column>("calls");
  const sorted = [...rows].sort((a, b) => COLUMNS[by].of(b.sums) - COLUMNS[by].of(a.sums));
  const most = Math.max(1, ...rows.map(({ sums }) => sums.calls));
  return (
    <div class="scroll">
      <table class="figures sortable">
        <thead>
          <tr>
            <th scope="col">{first}</th>
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
                  <span style={{ width: `${(sums.calls / most) * 100}%` }} />
                </span>
              </td>
              {NAMES.map((name) => (
                <td
                  key={name}
                  class={name === "errors" && sums.errors > 0 ? "number trouble-count" : "number"}
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

type Column = "calls" | "errors" | "denied" | "unfinished" | "time" | "each";

const each = ({ toolMs, calls }: ToolRow): number => (calls === 0 ? 0 : toolMs / calls);

const COLUMNS: Readonly<
  Record<
    Column,
    { readonly title: string; readonly of: (row: ToolRow) => number; readonly text: (row: ToolRow) => string }
  >
> = {
  calls: { title: "Calls", of: ({ calls }) => calls, text: ({ calls }) => exact(calls) },
  errors: {
    title: "Failed",
    of: ({ errors }) => errors,
    text: ({ errors, calls }) => (errors === 0 ? "0" : `${exact(errors)} (${percent(errors, calls)})`),
  },
  denied: { title: "Denied", of: ({ denied }) => denied, text: ({ denied }) => exact(denied) },
  unfinished: {
    title: "Unfinished",
    of: ({ unfinished, open }) => unfinished + open,
    text: ({ unfinished, open }) => `${exact(unfinished)}${open > 0 ? ` + ${exact(open)} running` : ""}`,
  },
  time: { title: "Time", of: ({ toolMs }) => toolMs, text: ({ toolMs }) => duration(toolMs) },
  each: { title: "Each", of: each, text: (row) => duration(each(row)) },
};
const NAMES = ["calls", "errors", "denied", "unfinished", "time", "each"] as const satisfies readonly Column[];
