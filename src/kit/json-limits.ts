import { getHeapStatistics } from "node:v8";

/** A JSON text that is too large for this process, and was not parsed. The message says what is too much, and contains no content. */
export class ExcessError extends Error {
  readonly code = "E_EXCESS";
}

/**
 * Why a JSON text must not be parsed: it is too long, too deep, or has too many values for the memory of this process. Small values
 * take up to thirty times their size in memory when they are parsed, and a process that runs out of memory cannot catch that.
 *
 * Almost all texts are too short to exceed a limit; they are not scanned.
 *
 * @param json UTF-8 if bytes
 * @returns `undefined` if it may be parsed
 */
export function excessOf(json: string | Buffer, { bytes, values }: JsonLimits = limitsOfProcess()): string | undefined {
  if (json.length > bytes) return `it has ${json.length} bytes, and ${bytes} fit in memory`;
  // A value and the comma before it have two bytes at least
  return json.length <= 2 * values ? undefined : excessIn(json, values);
}

/** @throws ExcessError if the text must not be parsed */
export function assertParsable(json: string | Buffer): void {
  const excess = excessOf(json);
  if (excess !== undefined) throw new ExcessError(excess);
}

interface JsonLimits {
  /** Of a text that is parsed at once. */
  readonly bytes: number;
  /** Values and members of objects in it. */
  readonly values: number;
}

/** In proportion to the memory that this process may use: a container can have as little as 64 MB. */
export function limitsFor(heapBytes: number): JsonLimits {
  return {
    bytes: Math.max(4 << 20, Math.min(64 << 20, Math.floor(heapBytes / 16))),
    values: Math.max(32_000, Math.min(1_000_000, Math.floor(heapBytes / 1_024))),
  };
}

// --- internal ---

/** Functions that walk through a value call themselves. */
const MAX_DEPTH = 1_000;

let known: JsonLimits | undefined;
const limitsOfProcess = (): JsonLimits => (known ??= limitsFor(getHeapStatistics().heap_size_limit));

/** One pass without parsing: counts brackets and commas outside of strings. Stops at the limit. */
function excessIn(json: string | Buffer, maxValues: number): string | undefined {
  const codeAt = typeof json === "string" ? (at: number) => json.charCodeAt(at) : (at: number) => json[at] ?? 0;
  let [values, depth] = [1, 0];
  for (let at = 0; at < json.length; at++) {
    const code = codeAt(at);
    if (code === QUOTE) {
      for (at++; at < json.length && codeAt(at) !== QUOTE; at++) if (codeAt(at) === BACKSLASH) at++;
    } else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      depth++;
      values++;
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth--;
    else if (code === COMMA) values++;
    if (values > maxValues) return `it has more than ${maxValues} values, and no more fit in memory`;
    if (depth > MAX_DEPTH) return `it has more than ${MAX_DEPTH} arrays and objects inside each other`;
  }
  return undefined;
}

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];
