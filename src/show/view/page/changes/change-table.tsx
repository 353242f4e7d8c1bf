import type { ChangeSort } from "../../wire/api.ts";
import type { ChangesDocument, UsageFigures } from "../../wire/documents.ts";
import { Head, ShareHead, type Sorting } from "../figures/table.tsx";
import { capitalised } from "../text/format.ts";
import { Change, ChangeFigures } from "./change.tsx";

interface Props {
  readonly document: ChangesDocument;
  readonly sort: ChangeSort;
  /** Whether the sessions of each change are shown from the start. */
  readonly isOpen: boolean;
  /** Whether to add the work without a change, and the sum of all. */
  readonly hasSums: boolean;
  readonly onSort: (sort: ChangeSort) => void;
}

/** Changes with their figures; each one opens to the sessions behind it. */
export function ChangeTable({ document: { by, rows, without, total }, sort, isOpen, hasSums, onSort }: Props) {
  const largest = Math.max(1, ...rows.map(({ figures }) => figures.cost_usd ?? 0));
  const sortingBy = (by: ChangeSort): Sorting => ({
    direction: sort === by ? "descending" : undefined,
    onSort: () => onSort(by),
  });
  return (
    <div class="scroll">
      <table class="figures changes">
        <thead>
          <tr>
            <Head>{capitalised(by)}</Head>
            <ShareHead />
            <Head isNumber sorting={sortingBy("cost")}>
              Cost
            </Head>
            <Head isNumber>Model time</Head>
            <Head isNumber>Tool time</Head>
            <Head isNumber>Tokens in → out</Head>
            <Head isNumber>Turns</Head>
            <Head>What became of it</Head>
            <Head sorting={sortingBy("recent")}>When</Head>
          </tr>
        </thead>
        {rows.map((row) => (
          <Change key={row.key} by={by} row={row} share={(row.figures.cost_usd ?? 0) / largest} isOpen={isOpen} />
        ))}
        {hasSums ? (
          <tbody class="sums">
            {without === null ? null : <Sum name={`Without a known ${by}`} figures={without} />}
            {total === null ? null : <Sum name="All sessions" figures={total} isTotal />}
          </tbody>
        ) : null}
      </table>
    </div>
  );
}

// --- internal ---

function Sum({ name, figures, isTotal = false }: { name: string; figures: UsageFigures; isTotal?: boolean }) {
  return (
    <tr class={isTotal ? "total" : undefined}>
      <th scope="row">{name}</th>
      <td class="share" />
      <ChangeFigures figures={figures} />
      <td class="outcome" />
      <td class="when" />
    </tr>
  );
}
