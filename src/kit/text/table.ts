import { lineOf, type Piece, type Style, sized, type Terminal, widthOf } from "./terminal.ts";

/** A column of a table of `T`. */
export interface Column<T> {
  readonly title: string;
  readonly cell: (row: T) => string;
  readonly style?: (row: T) => Style | undefined;
  readonly align?: "left" | "right";
  /** Where the terminal is too narrow, columns with the lowest rank are dropped first. */
  readonly rank: number;
  /** The column shrinks down to this width, so that no column has to be dropped. */
  readonly shrinkTo?: number;
  /** The column shrinks down to this width if it would be dropped otherwise. @default `shrinkTo` */
  readonly atLeast?: number;
}

/** A line of titles and one line per row, never wider than the terminal. Cells must be `printable`. */
export function* table<T>(columns: readonly Column<T>[], rows: readonly T[], terminal: Terminal): Generator<string> {
  const all = columns.map((column) => ({ column, cells: rows.map(column.cell) }));
  const used = all.filter(({ cells }) => cells.some((cell) => cell !== ""));
  const sizedColumns = layOut(
    used.map(({ column, cells }) => ({
      column,
      cells,
      width: cells.reduce((width, cell) => Math.max(width, widthOf(cell)), widthOf(column.title)),
    })),
    terminal.columns,
  );
  const line = (cell: (one: (typeof sizedColumns)[number]) => Piece): string =>
    lineOf(
      sizedColumns.flatMap((one, i) => [
        ...(i === 0 ? [] : [GAP]),
        ...sized([cell(one)], one.width, one.column.align ?? "left"),
      ]),
      terminal.colour,
    );
  yield line(({ column }) => ({ text: column.title, style: "dim" }));
  for (const [index, row] of rows.entries()) {
    yield line(({ column, cells }) => {
      const style = column.style?.(row);
      return { text: cells[index] ?? "", ...(style !== undefined && { style }) };
    });
  }
}

/**
 * A bar of blocks, in steps of an eighth of a column.
 *
 * @param share 0 to 1 of the whole width; anything above 0 is visible
 */
export function bar(share: number, columns: number): string {
  if (!(share > 0) || columns < 1) return "";
  const eighths = Math.max(1, Math.round(Math.min(1, share) * columns * 8));
  return "█".repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? "");
}

/** How much room these columns and the gaps after them leave in a row of the terminal; negative if they are too wide. */
export function roomBeside<T>(columns: readonly Column<T>[], rows: readonly T[], terminal: Terminal): number {
  const taken = columns.reduce((sum, { title, cell }) => {
    const width = rows.reduce((w, row) => Math.max(w, widthOf(cell(row))), 0);
    return width === 0 ? sum : sum + Math.max(width, widthOf(title)) + GAP.text.length;
  }, 0);
  return terminal.columns - taken;
}

// --- internal ---

const GAP: Piece = { text: "  " };

interface SizedColumn<T> {
  readonly column: Column<T>;
  readonly cells: readonly string[];
  readonly width: number;
}

/** Shrinks columns, then drops them by rank, until the rest fits; a single remaining column is clipped. */
function layOut<T>(columns: readonly SizedColumn<T>[], room: number): readonly SizedColumn<T>[] {
  const excess = columns.reduce((sum, { width }) => sum + width + GAP.text.length, -GAP.text.length) - room;
  if (excess <= 0) return columns;
  const nextToDrop = columns.reduce((a, b) => (b.column.rank < a.column.rank ? b : a));
  const minWidth = (one: SizedColumn<T>, usesAtLeast: boolean): number =>
    (usesAtLeast ? one.column.atLeast : undefined) ?? one.column.shrinkTo ?? one.width;
  for (const isLastResort of [false, true]) {
    const spare = columns.map((one) => Math.max(0, one.width - minWidth(one, isLastResort && one === nextToDrop)));
    if (spare.reduce((sum, one) => sum + one, 0) >= excess) return shrunk(columns, spare, excess);
  }
  if (columns.length <= 1) return columns.map((one) => ({ ...one, width: room }));
  return layOut(
    columns.filter((one) => one !== nextToDrop),
    room,
  );
}

/** Takes each column from the one that has the most to spare, so that none gets much narrower than another. */
function shrunk<T>(columns: readonly SizedColumn<T>[], spare: readonly number[], excess: number): SizedColumn<T>[] {
  const left = [...spare];
  for (let taken = 0; taken < excess; taken++) {
    const most = Math.max(...left);
    left[left.indexOf(most)] = most - 1;
  }
  return columns.map((one, i) => ({ ...one, width: one.width - ((spare[i] ?? 0) - (left[i] ?? 0)) }));
}

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
