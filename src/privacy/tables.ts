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
  for (const { 0: line, index } of text.matchAll(HEADING)) {
    const separator = SEPARATORS.find((one) => line.includes(one));
    if (separator === undefined) continue;
    const names = line.split(separator).map(withoutQuotes);
    if (!names.every((name, i) => NAME.test(name) || (name === "" && (i === 0 || i === names.length - 1)))) continue;
    const columns = names.flatMap((name, i) => (SECRET.test(name) ? [i] : []));
    if (columns.length > 0) yield* cellsBelow(text, index + line.length, { separator, count: names.length, columns });
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

const withoutQuotes = (cell: string): string => cell.trim().replace(/^["'`*]+|["'`*]+$/g, "");

interface Table {
  readonly separator: string;
  readonly count: number;
  readonly columns: readonly number[];
}

function* cellsBelow(text: string, from: number, { separator, count, columns }: Table): Generator<Cell> {
  let at = from;
  for (let row = 0; row < MAX_ROWS; row++) {
    BREAK.lastIndex = at;
    at += BREAK.exec(text)?.[0].length ?? 0;
    LINE.lastIndex = at;
    const line = LINE.exec(text)?.[0];
    if (line === undefined) return;
    const cells = line.split(separator);
    // Skip a separator line; it may have other characters between the columns
    if (/^[-+|│┼:= ]+$/.test(line)) {
      at += line.length;
      continue;
    }
    if (cells.length !== count) return;
    let start = at;
    for (const [i, cell] of cells.entries()) {
      const value = withoutQuotes(cell);
      if (columns.includes(i) && value.length >= MIN_CHARACTERS)
        yield { start: start + cell.indexOf(value), text: value };
      start += cell.length + separator.length;
    }
    at += line.length;
  }
}

const MIN_CHARACTERS = 4;
