import { excessOf } from "#kit/json-limits.ts";

/** The records of a line, and the number of pieces that are no records. */
interface Spliced {
  readonly records: readonly Buffer[];
  readonly torn: number;
}

/**
 * Finds the records in a line that is no JSON text. A process that is killed while it writes leaves an incomplete record, and the
 * next process writes its first record into the same line; two processes can also write two complete records into one line.
 */
export function splitLine(line: Buffer): Spliced {
  const records: Buffer[] = [];
  let torn = 0;
  let at = 0;
  let incompleteFrom = 0;
  let budgetBytes = MAX_SCANNED_BYTES;
  while (at < line.length && budgetBytes > 0) {
    const start = line.indexOf(BEGINNING, at);
    if (start === -1) break;
    const end = objectEnd(line, start, Math.min(line.length, start + budgetBytes));
    budgetBytes -= (end ?? line.length) - start;
    // An object inside an incomplete record is followed by that record's next member
    if (end === undefined || !(start === incompleteFrom || isBoundary(line, end)) || !isJson(line, start, end)) {
      at = start + 1;
      continue;
    }
    if (!isBlank(line, incompleteFrom, start)) torn++;
    records.push(line.subarray(start, end));
    at = end;
    incompleteFrom = end;
  }
  if (!isBlank(line, incompleteFrom, line.length)) torn++;
  return { records, torn };
}

// --- internal ---

/** Every start of an object is tried; this limits the time for a large line. */
const MAX_SCANNED_BYTES = 32 << 20;

const BEGINNING = '{"';
const [QUOTE, BACKSLASH, OPEN, CLOSE, SPACE] = [0x22, 0x5c, 0x7b, 0x7d, 0x20];
const BYTE_ORDER_MARK: ReadonlySet<number> = new Set([0xef, 0xbb, 0xbf]);

/** The end of the object that begins at `start`; `undefined` if it has none. */
function objectEnd(line: Buffer, start: number, to: number): number | undefined {
  let depth = 0;
  let isInString = false;
  for (let at = start; at < to; at++) {
    const byte = line[at];
    if (isInString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    else if (byte === OPEN) depth++;
    else if (byte === CLOSE && --depth === 0) return at + 1;
  }
  return undefined;
}

/** Whether a record can end here: at the line's end, or before another record. */
function isBoundary(line: Buffer, at: number): boolean {
  let next = at;
  while (next < line.length && isFiller(line[next])) next++;
  return next === line.length || line[next] === OPEN;
}

function isJson(line: Buffer, start: number, end: number): boolean {
  if (excessOf(line.subarray(start, end)) !== undefined) return false;
  try {
    JSON.parse(line.toString("utf8", start, end));
    return true;
  } catch {
    return false;
  }
}

function isBlank(line: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (!isFiller(line[at])) return false;
  return true;
}

/** White space, and zero bytes from a crash of the machine. */
const isFiller = (byte: number | undefined): boolean =>
  byte !== undefined && (byte <= SPACE || BYTE_ORDER_MARK.has(byte));
