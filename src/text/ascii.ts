import type { Context } from "../context.ts";
import { writeLines } from "./terminal.ts";

/** Writes lines for a person to read, as this terminal can show them. */
export const printLines = (context: Pick<Context, "stdout" | "env">, lines: Iterable<string>): void =>
  writeLines(context.stdout, shownLines(lines, context));

/** Lines as this terminal can show them: without anything but ASCII where it says that it knows nothing else. */
export function* shownLines(lines: Iterable<string>, { env }: Pick<Context, "env">): Generator<string> {
  const isPlain = knowsAsciiAlone(env);
  for (const line of lines) yield isPlain ? toAscii(line) : line;
}

// --- internal ---

/** Says nothing: then it is one of our days. */
function knowsAsciiAlone(env: Context["env"]): boolean {
  if (env["TERM"] === "dumb") return true;
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"];
  return locale !== undefined && locale !== "" && !/utf-?8/i.test(locale);
}

/** Each of our own signs as what says the same; names from elsewhere stay as they are. */
const toAscii = (line: string): string =>
  line
    // What takes two columns takes the second from a space beside it, where there is one to spare
    .replace(/(?<= ) ≥|≥ ?/g, ">=")
    .replace(/(?<=^|\dm)… (?=\d)/, "... ")
    .replace(/→(?! )/g, "/")
    .replace(SIGNS, (sign) => ASCII[sign] ?? "?");

/** Each takes one column, as the sign does. */
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
const SIGNS = new RegExp(`[${Object.keys(ASCII).join("")}]`, "g");
