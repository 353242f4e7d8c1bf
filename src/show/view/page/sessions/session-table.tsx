// biome-ignore-all lint/a11y/noRedundantRoles: styled as lines on narrow screens, the elements lose their roles
import type { ComponentChildren } from "preact";
import { type Failures, sumOfFailures } from "#kit/text/failure-share.ts";
import type { Sort } from "../../wire/api.ts";
import type { SessionRow } from "../../wire/documents.ts";
import { failureClass, failuresOf } from "../figures/compare.ts";
import { AtWork, Branch, Cost, EndBadge, InOut, Model, placeOf, Time } from "../figures/figures.tsx";
import { Head, type Sorting } from "../figures/table.tsx";
import { hrefOf } from "../route.ts";
import { dayName, exact, msOf } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";

interface Props {
  readonly rows: readonly SessionRow[];
  /** Absent: the rows cannot be sorted, and are in order of their last activity. */
  readonly sorting?: {
    readonly sort: Sort;
    readonly rising: boolean;
    readonly onSort: (by: Sort, rising: boolean) => void;
  };
  /** What is shown below a session, by its key. @default nothing */
  readonly lines?: ReadonlyMap<string, string>;
  /** @default Sessions */
  readonly label?: string;
}

/** Sessions, one line each; in order of time below the days on which they were active. */
export function SessionTable({ rows, sorting, lines, label = "Sessions" }: Props) {
  const sortingBy = (by: Sort): Sorting | undefined => {
    if (sorting === undefined) return undefined;
    const { sort, rising, onSort } = sorting;
    const isSorted = sort === by;
    return {
      direction: isSorted ? (rising ? "ascending" : "descending") : undefined,
      onSort: () => onSort(by, isSorted && !rising),
    };
  };
  const usual = sumOfFailures(rows.map(failuresOf));
  const sort = sorting?.sort ?? "recent";
  const timeOf = (row: SessionRow): number => msOf(sort === "started" ? row.start : row.last_activity);
  const dayOf = (row: SessionRow | undefined): string =>
    row === undefined || (sort !== "recent" && sort !== "started") ? "" : dayName(timeOf(row));
  const hasOneAgent = rows.every(({ source }) => source === rows[0]?.source);
  const columns = COLUMNS.filter(({ key }) => key !== "agent" || !hasOneAgent);
  return (
    <table class="sessions" role="table" aria-label={label}>
      <colgroup>
        <col class="when" />
        {columns.map(({ key }) => (
          <col key={key} class={key} />
        ))}
      </colgroup>
      <thead role="rowgroup">
        <tr role="row">
          <Head role="columnheader" sorting={sortingBy("recent")}>
            Last activity
          </Head>
          {columns.map(({ name, isNumber, by }) => (
            <Head
              key={name}
              role="columnheader"
              isNumber={isNumber}
              sorting={by === undefined ? undefined : sortingBy(by)}
            >
              {name}
            </Head>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row, i) => {
          const day = dayOf(row);
          const isFirst = day !== dayOf(rows[i - 1]);
          return (
            <tr key={keyOf(row)} role="row" class={isFirst ? "first" : undefined}>
              <td role="cell" class="when">
                {day === "" ? null : <b class={isFirst ? "day" : "sr"}>{day}</b>}
                <Time ms={timeOf(row)} isClock={day !== ""} />
              </td>
              <td role="cell" class="name">
                <Name row={row} line={lines?.get(keyOf(row))} />
              </td>
              {columns.slice(1).map(({ key, isNumber, cell }) => (
                <td key={key} role="cell" class={isNumber ? `number ${key}` : key}>
                  {cell?.(row, usual)}
                </td>
              ))}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** A session among others. */
export const keyOf = ({ source, session_id }: Pick<SessionRow, "source" | "session_id">): string =>
  `${source}/${session_id}`;

/** The first line of its prompt; without one, what it did. */
export const nameOf = ({ prompt, title, session_id }: Pick<SessionRow, "prompt" | "title" | "session_id">): string =>
  safeText(prompt ?? (title === "" ? session_id : title));

// --- internal ---

interface SessionColumn {
  /** Its class. */
  readonly key: string;
  readonly name: string;
  readonly isNumber?: boolean;
  readonly by?: Sort;
  readonly cell?: (row: SessionRow, usual: Failures) => ComponentChildren;
}

/** Those after the time; the first has the name. */
const COLUMNS: readonly SessionColumn[] = [
  { key: "name", name: "Session" },
  {
    key: "place",
    name: "Repository",
    cell: (row) => (
      <>
        {safeText(placeOf(row))} <Branch of={row} />
      </>
    ),
  },
  { key: "agent", name: "Agent", cell: ({ agent }) => safeText(agent) },
  { key: "models", name: "Model", cell: ({ models }) => <Models names={models} /> },
  { key: "worked", name: "At work", isNumber: true, cell: (row) => <AtWork row={row} /> },
  { key: "cost", name: "Cost", isNumber: true, by: "cost", cell: ({ totals }) => <Cost of={totals} /> },
  { key: "tokens", name: "Tokens in → out", isNumber: true, by: "tokens", cell: ({ totals }) => <InOut of={totals} /> },
  { key: "turns", name: "Turns", isNumber: true, cell: ({ turns }) => exact(turns) },
  { key: "calls", name: "Tools", isNumber: true, cell: ({ tool_calls }) => exact(tool_calls.total) },
  {
    key: "failures",
    name: "Failed",
    isNumber: true,
    by: "errors",
    cell: (row, usual) => <ToolErrors row={row} usual={usual} />,
  },
];

function Name({ row, line }: { row: SessionRow; line: string | undefined }) {
  const { source, session_id: id, title } = row;
  const name = nameOf(row);
  return (
    <>
      <span class="title">
        <a href={hrefOf("session", { source, id })} title={[name, safeText(title), safeText(id)].join("\n")}>
          {name}
        </a>
        <EndBadge ending={row.ending} />
      </span>
      {line === undefined || safeText(line) === name ? null : <span class="found muted">{safeText(line)}</span>}
    </>
  );
}

function Models({ names: [first, ...others] }: { names: SessionRow["models"] }) {
  if (first === undefined) return null;
  return (
    <>
      <Model name={first} />
      {others.length === 0 ? null : <span title={others.map(safeText).join(", ")}> +{others.length}</span>}
    </>
  );
}

function ToolErrors({ row, usual }: { row: SessionRow; usual: Failures }) {
  const { failed } = failuresOf(row);
  const denied = row.tool_calls["denied"] ?? 0;
  if (failed + denied === 0) return null;
  return (
    <span class={failureClass(failuresOf(row), usual)} title={`${exact(failed)} failed, ${exact(denied)} denied`}>
      {exact(failed + denied)}
    </span>
  );
}
