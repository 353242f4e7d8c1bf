import { styleText } from "node:util";
import fastStringWidth from "fast-string-width";
import type { Output } from "../safe-output.ts";

/** What decides how text is shown. */
export interface Screen {
  readonly stdout: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What an output can show. */
export interface Terminal {
  /** Columns of one line, at least 1. */
  readonly columns: number;
  readonly colour: boolean;
}

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "blue" | "magenta" | "cyan";

/** Text in one style, without control characters (see `printable`). */
export interface Piece {
  readonly text: string;
  readonly style?: Style;
}

/**
 * What `stdout` can show. Width: of a terminal its own (80 if unknown), of a pipe `COLUMNS` (120 if unset). Colours: only
 * on a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`.
 *
 * @see https://no-color.org
 */
export function terminalOf({ stdout, env }: Screen): Terminal {
  const isTerminal = stdout.isTTY === true;
  const given = isTerminal ? stdout.columns : Number(env["COLUMNS"]);
  const columns = given !== undefined && Number.isInteger(given) && given > 0 ? given : isTerminal ? 80 : 120;
  const colour = isTerminal && !env["NO_COLOR"] && env["TERM"] !== "dumb" && typeof styleText === "function";
  return { columns, colour };
}

/**
 * Escapes text from data for display: control characters, terminal escapes, line breaks, invisible and direction-changing
 * characters and lone surrogates, e.g. `\x1b`.
 */
export const printable = (text: string): string =>
  PLAIN.test(text)
    ? text
    : text.replace(UNSAFE, (character) => {
        const code = character.codePointAt(0) ?? 0;
        return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
      });

/** Columns that a `printable` text takes; never less than a terminal uses. */
export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  // Terminals disagree on spacing marks and know newer characters than Node; the larger width never wraps
  return fastStringWidth(text) + (text.match(UNSURE)?.length ?? 0);
}

/** The text, cut with `…` if it takes more than `columns`. */
export function clip(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  if (columns < 1) return "";
  // With the character after it, which could be a mark on the last one
  if (NARROW.test(text.slice(0, columns))) return `${text.slice(0, columns - 1)}…`;
  let kept = "";
  let width = 0;
  for (const one of charactersOf(text)) {
    width += widthOf(one);
    if (width > columns - 1) break;
    kept += one;
  }
  return `${kept}…`;
}

/** Pieces in exactly `columns` columns: clipped, or padded with spaces on the other side of `align`. */
export function sized(pieces: readonly Piece[], columns: number, align: "left" | "right" = "left"): readonly Piece[] {
  const widths = pieces.map((piece) => widthOf(piece.text));
  const width = widths.reduce((a, b) => a + b, 0);
  if (width <= columns) {
    const space: Piece = { text: " ".repeat(columns - width) };
    return align === "left" ? [...pieces, space] : [space, ...pieces];
  }
  const kept: Piece[] = [];
  let left = columns;
  for (const [index, piece] of pieces.entries()) {
    const own = widths[index] ?? 0;
    const isLast = index === pieces.length - 1;
    // Keep a column for `…`, unless this is the last piece
    if (own < left || (own === left && isLast)) {
      kept.push(piece);
      left -= own;
      continue;
    }
    const text = own > left ? clip(piece.text, left) : clip(`${piece.text} `, left);
    kept.push({ ...piece, text });
    left -= widthOf(text);
    break;
  }
  return left > 0 ? [...kept, { text: " ".repeat(left) }] : kept;
}

/** Pieces as one line, without trailing spaces. */
export function lineOf(pieces: readonly Piece[], colour: boolean): string {
  const shown = pieces.filter((piece) => piece.text !== "");
  while (shown.length > 0) {
    const last = shown.at(-1) as Piece;
    const text = last.text.trimEnd();
    if (text === last.text) break;
    shown.pop();
    if (text !== "") shown.push({ ...last, text });
  }
  return shown.map(({ text, style }) => (colour && style !== undefined ? paint(style, text) : text)).join("");
}

/** Parts joined by ` · ` over as many lines as needed; parts are clipped, never broken. */
export function* flow(parts: readonly (readonly Piece[])[], { columns, colour }: Terminal): Generator<string> {
  let line: readonly Piece[] = [];
  let width = 0;
  for (const part of parts) {
    const own = part.reduce((sum, piece) => sum + widthOf(piece.text), 0);
    if (own === 0) continue;
    if (width > 0 && width + SEPARATOR.text.length + own > columns) {
      yield lineOf(line, colour);
      [line, width] = [[], 0];
    }
    const next = width === 0 ? part : [...line, SEPARATOR, ...part];
    width = width === 0 ? own : width + SEPARATOR.text.length + own;
    line = width > columns ? sized(next, columns) : next;
    width = Math.min(width, columns);
  }
  if (width > 0) yield lineOf(line, colour);
}

/**
 * Wraps text between words; a word longer than a line is broken.
 *
 * @param first precedes the first line, and the others are indented by its width; on a separate line if too little room
 *        would be left
 */
export function* wrapped(first: Piece, text: string, { columns, colour }: Terminal): Generator<string> {
  const isBeside = widthOf(first.text) <= Math.max(NARROW_INDENT, columns - MIN_TEXT);
  const indent = Math.min(isBeside ? widthOf(first.text) : NARROW_INDENT, columns - 1);
  const room = columns - indent;
  let before = isBeside ? sized([first], indent) : [{ text: " ".repeat(indent) }];
  if (!isBeside && first.text.trim() !== "") yield lineOf(sized([first], columns), colour);
  let line = "";
  for (const word of text.split(" ").flatMap((whole) => broken(whole, room))) {
    if (line !== "" && widthOf(line) + 1 + widthOf(word) > room) {
      yield lineOf([...before, { text: line }], colour);
      before = [{ text: " ".repeat(indent) }];
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  yield lineOf([...before, { text: line }], colour);
}

/** Writes lines in portions, which avoids thousands of small writes and one huge string. */
export function writeLines(output: Output, lines: Iterable<string>): void {
  let portion = "";
  for (const line of lines) {
    portion += `${line}\n`;
    if (portion.length < PORTION_CHARACTERS) continue;
    output.write(portion);
    portion = "";
  }
  if (portion !== "") output.write(portion);
}

/** A path as an argument that can be typed in a shell. */
export const asArgument = (path: string): string =>
  /^[\w@%+=:,./-]+$/.test(path) ? path : `'${printable(path).replaceAll("'", "'\\''")}'`;

// --- internal ---

const PORTION_CHARACTERS = 1 << 16;
/** Columns that the text needs beside `first`. */
const MIN_TEXT = 20;
const NARROW_INDENT = 2;
const SEPARATOR: Piece = { text: " · ", style: "dim" };

/** Created on demand: it costs 10 ms, and most text does not need it. */
let segmenter: Intl.Segmenter | undefined;
function* charactersOf(text: string): Generator<string> {
  if (SINGLE.test(text)) return yield* text;
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  for (const { segment } of segmenter.segment(text)) yield segment;
}
const PLAIN = /^[\x20-\x7e]*$/;
/** One column each: Latin, and the symbols we draw with. */
const NARROW = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u2013-\u2026\u2190-\u2193\u2264\u2265\u2500-\u259f\u2717]*$/;
/**
 * Each code point is a character: also Greek, Cyrillic, Japanese, Chinese and Korean, and emoji, without marks,
 * joiners, skin tones and flags.
 */
const SINGLE =
  /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u2013-\u2026\u2190-\u2193\u2264\u2265\u2500-\u259f\u2717\u0370-\u0482\u048a-\u052f\u3001-\u3029\u3041-\u3096\u30a1-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60\u{1f300}-\u{1f3fa}\u{1f400}-\u{1f64f}\u{1f680}-\u{1f6ff}]*$/u;
/** Joiners are allowed: emoji and some scripts need them. */
const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const UNSURE = /[\p{Mc}\p{Cn}]/gu;

/** Without validation, because newer Node versions check their own stdout, and we have checked ours. */
const paint = (style: Style, text: string): string => styleText(style, text, { validateStream: false });

/** Splits a word into parts that fit. A character wider than the room becomes `…`. */
function broken(word: string, room: number): readonly string[] {
  if (widthOf(word) <= room) return [word];
  const parts = [""];
  for (const one of charactersOf(word)) {
    const part = parts.at(-1) ?? "";
    if (part !== "" && widthOf(part) + widthOf(one) > room) parts.push(clip(one, room));
    else parts[parts.length - 1] = part + clip(one, room);
  }
  return parts;
}
