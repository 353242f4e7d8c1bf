/** A cell below a heading that names a secret. */
export interface Cell {
  readonly start: number;
  readonly text: string;
}

/**
 * Finds the values in columns of passwords, secrets, tokens and keys: in tables of databases and Markdown, and in files with
 * separated values. The heading is one line with one word per column, and the rows have the same number of columns.
 */
export function* secretCells(text: string): Generator<Cell> {
  let readUpTo = 0;
  for (const { 0: line, index } of text.matchAll(HEADING)) {
    if (index < readUpTo) continue;
    const separator = SEPARATORS.find((one) => line.includes(one));
    if (separator === undefined) continue;
    const names = line.split(separator).map(withoutQuotes);
    const columns = new Set(secretColumns(names));
    if (columns.size === 0) continue;
    readUpTo = yield* cellsBelow(text, index + line.length, { separator, count: names.length, columns });
  }
}

// --- internal ---

const SEPARATORS = ["|", "│", "\t", ";", ","] as const;
const NAME = /^[\p{L}\p{N}_.-]{1,60}$/u;
const SECRET =
  /^(?:[\w.-]*[_.-])?(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)$/i;
const HEADING = /^[^\r\n]{0,400}(?:password|passwd|passphrase|secret|token|key)[^\r\n]{0,400}$/gim;
const LINE = /[^\r\n]{1,4000}/y;
const BREAK = /\r?\n/y;
/** Further rows are not read. */
const MAX_ROWS = 10_000;

const QUOTES = "\"'`*";

function withoutQuotes(cell: string): string {
  const text = cell.trim();
  let [start, end] = [0, text.length];
  while (start < end && QUOTES.includes(text.charAt(start))) start++;
  while (start < end && QUOTES.includes(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

/** The columns of secrets, if the cells of a line can be headings. */
const secretColumns = (names: readonly string[]): readonly number[] =>
  names.every((name, i) => NAME.test(name) || (name === "" && (i === 0 || i === names.length - 1)))
    ? names.flatMap((name, i) => (SECRET.test(name) ? [i] : []))
    : [];

interface Table {
  readonly separator: string;
  readonly count: number;
  readonly columns: Set<number>;
}

/** @returns where the table ends. Headings among its rows are rows, and headings of further columns. */
function* cellsBelow(text: string, from: number, { separator, count, columns }: Table): Generator<Cell, number> {
  let at = from;
  for (let row = 0; row < MAX_ROWS; row++) {
    BREAK.lastIndex = at;
    at += BREAK.exec(text)?.[0].length ?? 0;
    LINE.lastIndex = at;
    const line = LINE.exec(text)?.[0];
    if (line === undefined) return at;
    const cells = line.split(separator);
    // Skip a separator line; it may have other characters between the columns
    if (/^[-+|│┼:= ]+$/.test(line)) {
      at += line.length;
      continue;
    }
    if (cells.length !== count) return at;
    let start = at;
    const values = cells.map(withoutQuotes);
    for (const [i, cell] of cells.entries()) {
      const value = values[i] ?? "";
      if (columns.has(i) && value.length >= MIN_CHARACTERS) yield { start: start + cell.indexOf(value), text: value };
      start += cell.length + separator.length;
    }
    for (const column of secretColumns(values)) columns.add(column);
    at += line.length;
  }
  return at;
}

const MIN_CHARACTERS = 4;
