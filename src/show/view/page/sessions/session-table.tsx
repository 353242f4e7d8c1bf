// biome-ignore-all lint/a11y/noRedundantRoles: styled as cards on narrow screens, the elements lose their roles
import { type Failures, sumOfFailures } from "../../../../kit/text/failure-share.ts";
import type { Sort } from "../../wire/api.ts";
import type { SessionRow } from "../../wire/documents.ts";
import { failureClass, failuresOf } from "../figures/compare.ts";
import { AtWork, Branch, Cost, EndBadge, InOut, placeOf, Time } from "../figures/figures.tsx";
import { Head, type Sorting } from "../figures/table.tsx";
import { hrefOf } from "../route.ts";
import { exact, msOf } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";

interface Props {
  readonly rows: readonly SessionRow[];
  /** Absent: the rows cannot be sorted. */
  readonly sorting?: {
    readonly sort: Sort;
    readonly rising: boolean;
    readonly onSort: (by: Sort, rising: boolean) => void;
  };
}

export function SessionTable({ rows, sorting }: Props) {
  const sortingBy = (by: Sort): Sorting | undefined => {
    if (sorting === undefined) return undefined;
    const { sort, rising, onSort } = sorting;
    const isSorted = sort === by;
    return {
      direction: isSorted ? (rising ? "ascending" : "descending") : undefined,
      onSort: () => onSort(by, isSorted && !rising),
    };
  };
  const idLength = uniquePrefixLength(rows.map(({ session_id }) => session_id));
  const usual = sumOfFailures(rows.map(failuresOf));
  return (
    <table class="sessions" role="table" aria-label="Sessions">
      <thead role="rowgroup">
        <tr role="row">
          {COLUMNS.map(({ name, isNumber, sort }) => (
            <Head
              key={name}
              role="columnheader"
              isNumber={isNumber}
              sorting={sort === undefined ? undefined : sortingBy(sort)}
            >
              {name}
            </Head>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <Row key={`${row.source}/${row.session_id}`} row={row} idLength={idLength} usual={usual} />
        ))}
      </tbody>
    </table>
  );
}

// --- internal ---

const COLUMNS: readonly { readonly name: string; readonly isNumber?: boolean; readonly sort?: Sort }[] = [
  { name: "Session" },
  { name: "Last activity", sort: "recent" },
  { name: "Started", sort: "started" },
  { name: "At work", isNumber: true },
  { name: "Cost", isNumber: true, sort: "cost" },
  { name: "Tokens in → out", isNumber: true, sort: "tokens" },
  { name: "Turns", isNumber: true },
  { name: "Tools", isNumber: true, sort: "errors" },
];

function Row({ row, idLength, usual }: { row: SessionRow; idLength: number; usual: Failures }) {
  return (
    <tr role="row">
      <td role="cell" class="who">
        <a href={hrefOf("session", { source: row.source, id: row.session_id })}>
          <span class="agent">{safeText(row.agent)}</span>
          <span class="place">
            {safeText(placeOf(row))}
            <Branch of={row} />
          </span>
        </a>
        {row.prompt === null ? null : <span class="prompt">{safeText(row.prompt)}</span>}
        <span class="sub">
          <span class="id">{safeText(row.session_id.slice(0, idLength))}</span>
          {row.title === "" ? null : <span class="work-done">{safeText(row.title)}</span>}
          <span class="models">{row.models.map((model) => safeText(model)).join(", ")}</span>
        </span>
      </td>
      <td role="cell" data-name="Last activity">
        <EndBadge ending={row.ending} />
        <Time ms={msOf(row.last_activity)} />
      </td>
      <td role="cell" data-name="Started">
        <Time ms={msOf(row.start)} />
      </td>
      <td role="cell" data-name="At work" class="number">
        <AtWork row={row} />
      </td>
      <td role="cell" data-name="Cost" class="number">
        <Cost of={row.totals} />
      </td>
      <td role="cell" data-name="Tokens" class="number">
        <InOut of={row.totals} />
      </td>
      <td role="cell" data-name="Turns" class="number">
        {exact(row.turns)}
      </td>
      <td role="cell" data-name="Tools" class="number">
        {exact(row.tool_calls.total)}
        <ToolErrors row={row} usual={usual} />
      </td>
    </tr>
  );
}

/** Length of id prefixes that differ. Ids of some agents begin with the time, so their first characters can be equal. */
function uniquePrefixLength(ids: readonly string[]): number {
  const distinct = new Set(ids);
  const longest = Math.max(MIN_ID_LENGTH, ...ids.map((id) => id.length));
  for (let length = MIN_ID_LENGTH; length < longest; length++) {
    if (new Set([...distinct].map((id) => id.slice(0, length))).size === distinct.size) return length;
  }
  return longest;
}

const MIN_ID_LENGTH = 8;

function ToolErrors({ row, usual }: { row: SessionRow; usual: Failures }) {
  const [failed, denied] = [row.tool_calls["error"] ?? 0, row.tool_calls["denied"] ?? 0];
  if (failed + denied === 0) return null;
  return (
    <span class={failureClass(failuresOf(row), usual)}>
      {failed > 0 ? `${exact(failed)} failed` : ""}
      {failed > 0 && denied > 0 ? ", " : ""}
      {denied > 0 ? `${exact(denied)} denied` : ""}
    </span>
  );
}
