import { isUtf8 } from "node:buffer";

/** A readable stretch of decoded bytes, and where its encoded form is in the text. */
interface Decoded {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * What base64 and hexadecimal digits in a text contain, if it is readable. Base64 can be wrapped into lines, and can begin anywhere in
 * a longer run: `data-` and paths consist of the same characters. Shorter stretches cannot contain a secret that the rules know.
 *
 * Bytes above ASCII belong to letters in UTF-8, zeros to UTF-16.
 */
export function* decodedIn(text: string): Generator<Decoded> {
  for (const run of runsIn(text, BASE64, MIN_BASE64)) yield* readable(run, 4, 3, "base64");
  for (const run of runsIn(text, HEX, MIN_HEX)) yield* readable(run, 2, 1, "hex");
}

// --- internal ---

const MIN_BASE64 = 20;
const MIN_HEX = 24;
/** Lines as `base64`, PEM and MIME write them, also in a quoted mail or an indented block. */
const BASE64 = /[A-Za-z0-9+/_-]{20,}={0,2}(?:\r?\n[ \t>|+-]{0,20}[A-Za-z0-9+/_-]{1,}={0,2}){0,}/g;
const HEX = /[0-9A-Fa-f]{24,}/g;
/** Readable ASCII, long enough not to be a coincidence. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: zeros of UTF-16
const STRETCH = /(?:[\t\n\r -~]\u0000?){12,}/g;
const READABLE = /^[\t\n\r -~\u0080-\u00ff]*$/;

interface Run {
  readonly digits: string;
  /** Where each digit is in the text. */
  readonly at: (index: number) => number;
}

function* runsIn(text: string, pattern: RegExp, minLength: number): Generator<Run> {
  for (const { 0: found, index: start } of text.matchAll(pattern)) {
    if (!found.includes("\n")) {
      yield { digits: found, at: (index) => start + index };
      continue;
    }
    const positions: number[] = [];
    const digits: string[] = [];
    for (const line of found.matchAll(/(?<=^|\n)[ \t>|+-]*([^\r\n=]+)/g)) {
      const [whole, part = ""] = line;
      const from = start + line.index + whole.length - part.length;
      digits.push(part);
      for (let i = 0; i < part.length; i++) positions.push(from + i);
    }
    if (positions.length < minLength) continue;
    const end = (positions.at(-1) ?? start) + 1;
    yield { digits: digits.join(""), at: (index) => positions[index] ?? end };
  }
}

/** Decodes groups of `size` digits, which are `bytes` bytes each. The first group can begin at any digit of the run. */
function* readable({ digits, at }: Run, size: number, bytes: number, encoding: BufferEncoding): Generator<Decoded> {
  for (let offset = 0; offset < size; offset++) {
    const buffer = Buffer.from(offset === 0 ? digits : digits.slice(offset), encoding);
    const decoded = buffer.toString("latin1");
    // From a wrong first digit, one secret in thirty becomes bytes without control characters, but none becomes UTF-8
    if (offset === 0 && READABLE.test(decoded) && isUtf8(buffer)) {
      yield { start: at(0), end: at(digits.length - 1) + 1, text: decoded };
      return;
    }
    for (const { 0: text, index } of decoded.matchAll(STRETCH)) {
      const first = offset + Math.floor((index * size) / bytes);
      const last = Math.min(offset + Math.ceil(((index + text.length) * size) / bytes), digits.length) - 1;
      yield { start: at(first), end: at(last) + 1, text };
    }
  }
}
