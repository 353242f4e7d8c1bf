import type { ComponentChildren } from "preact";
import { urlOf } from "../data/api.ts";
import type { Params } from "../route.ts";
import { timeZone } from "../text/format.ts";

/** How a column is sorted now, and what a click on its head does. */
export interface Sorting {
  /** Absent: the table is sorted by another column. */
  readonly direction?: "ascending" | "descending" | undefined;
  readonly onSort: () => void;
}

/** The head of a column. */
export function Head({
  children,
  isNumber = false,
  sorting,
  role,
}: {
  children: ComponentChildren;
  isNumber?: boolean | undefined;
  /** Absent: the table cannot be sorted by this column. */
  sorting?: Sorting | undefined;
  role?: "columnheader";
}) {
  const direction = sorting?.direction;
  return (
    <th role={role} scope="col" class={isNumber ? "number" : undefined} aria-sort={direction}>
      {sorting === undefined ? (
        children
      ) : (
        <button type="button" class="sort" onClick={sorting.onSort}>
          {children}
          {direction === undefined ? null : <span aria-hidden="true"> {direction === "ascending" ? "▲" : "▼"}</span>}
        </button>
      )}
    </th>
  );
}

/** A figure with the name of its column, which is shown beside it on narrow screens. */
export const NumberCell = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <td class="number" data-name={name}>
    {children}
  </td>
);

export const ShareHead = ({ name = "Share" }: { name?: string | undefined }) => (
  <th scope="col" class="share">
    <span class="sr">{name}</span>
  </th>
);

/** A bar beside the figures, which contain the same. @param share of the longest bar */
export const ShareCell = ({ share }: { share: number }) => (
  <td class="share">
    <span class="meter" aria-hidden="true">
      {share > 0 ? <span style={{ width: `${share * 100}%` }} /> : null}
    </span>
  </td>
);

/** One of the figures that a table has of each row. */
export interface Column<T> {
  readonly name: string;
  readonly cell: (row: T) => ComponentChildren;
}

interface Props<T> {
  /** Head of the first column, which has the names of the rows. */
  readonly heading: string;
  readonly nameOf: (row: T) => ComponentChildren;
  readonly keyOf: (row: T) => string;
  /** Bars beside the names. @default none */
  readonly share?: { readonly name?: string; readonly of: (row: T) => number };
  readonly columns: readonly Column<T>[];
  /** @default the table cannot be sorted */
  readonly sortingOf?: (column: Column<T>) => Sorting;
  readonly rows: readonly T[];
}

/** A table of figures. */
export function FigureTable<T>({ heading, nameOf, keyOf, share, columns, sortingOf, rows }: Props<T>) {
  return (
    <div class="scroll">
      <table class={sortingOf === undefined ? "figures" : "figures sortable"}>
        <thead>
          <tr>
            <Head>{heading}</Head>
            {share === undefined ? null : <ShareHead name={share.name} />}
            {columns.map((column) => (
              <Head key={column.name} isNumber sorting={sortingOf?.(column)}>
                {column.name}
              </Head>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              <th scope="row">{nameOf(row)}</th>
              {share === undefined ? null : <ShareCell share={share.of(row)} />}
              {columns.map(({ name, cell }) => (
                <NumberCell key={name} name={name}>
                  {cell(row)}
                </NumberCell>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A button for more rows, and how many there are. */
export const More = ({ text, onMore }: { text: string; onMore: () => void }) => (
  <p class="more">
    <button type="button" onClick={onMore}>
      Show more
    </button>
    <span class="muted">{text}</span>
  </p>
);

/** Links that save the figures of a view, with the same columns as the command `report`. */
export function Downloads({ query }: { query: Params & { readonly by: string } }) {
  const href = (format: "csv" | "json"): string => urlOf(`report.${format}`, { ...query, timeZone: timeZone() });
  return (
    <p class="downloads">
      <a href={href("csv")} download>
        Download CSV
      </a>
      <a href={href("json")} download>
        JSON
      </a>
    </p>
  );
}
