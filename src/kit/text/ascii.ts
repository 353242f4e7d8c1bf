import { type Screen, writeLines } from "./terminal.ts";

/** Prints lines for people, in ASCII if the locale has nothing else. */
export const printLines = (context: Screen, lines: Iterable<string>): void =>
  writeLines(context.stdout, shownLines(lines, context));

/** Lines as the terminal can show them: in ASCII if the locale has nothing else. */
export function* shownLines(lines: Iterable<string>, { env }: Pick<Screen, "env">): Generator<string> {
  const isPlain = isAsciiOnly(env);
  for (const line of lines) yield isPlain ? toAscii(line) : line;
}

// --- internal ---

/** No locale set: assume UTF-8. */
function isAsciiOnly(env: Screen["env"]): boolean {
  if (env["TERM"] === "dumb") return true;
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"];
  return locale !== undefined && locale !== "" && !/utf-?8/i.test(locale);
}

/** Replaces our own symbols by ASCII; text from data stays as it is. */
const toAscii = (line: string): string =>
  line
    // Two-column replacements also consume a space beside the symbol, if there is one
    .replace(/(?<= ) ≥|≥ ?/g, ">=")
    .replace(/(?<=^|\dm)… (?=\d)/, "... ")
    .replace(/→(?! )/g, "/")
    .replace(SYMBOLS, (sign) => ASCII[sign] ?? "?");

/** Each takes one column, like the symbol. */
const ASCII: Readonly<Record<string, string>> = {
  "█": "#",
  "▉": "#",
  "▊": "#",
  "▋": "#",
  "▌": "#",
  "▐": "#",
  "▍": "-",
  "▎": "-",
  "▏": "-",
  "░": ".",
  "━": "=",
  "╸": "-",
  "╺": "-",
  "┄": ".",
  "├": "|",
  "│": "|",
  "└": "`",
  "─": "-",
  "·": "-",
  "…": "~",
  "→": ">",
  "–": "-",
  "✓": "+",
  "✗": "x",
  "×": "x",
};
const SYMBOLS = new RegExp(`[${Object.keys(ASCII).join("")}]`, "g");
