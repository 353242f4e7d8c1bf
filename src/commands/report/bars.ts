import type { Context } from "../context.ts";

/**
 * A bar of blocks, in steps of an eighth of a column.
 *
 * @param share 0 to 1 of the whole width; what is more than nothing shows
 */
export function bar(share: number, columns: number): string {
  if (!(share > 0) || columns < 1) return "";
  const eighths = Math.max(1, Math.round(Math.min(1, share) * columns * 8));
  return "█".repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? "");
}

/** Lines as this terminal can show them: without anything but ASCII where it says that it knows nothing else. */
export function* shownLines(lines: Iterable<string>, { env }: Pick<Context, "env">): Generator<string> {
  const isPlain = knowsAsciiAlone(env);
  for (const line of lines) yield isPlain ? toAscii(line) : line;
}

// --- internal ---

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** Says nothing: then it is one of our days. */
function knowsAsciiAlone(env: Context["env"]): boolean {
  if (env["TERM"] === "dumb") return true;
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"];
  return locale !== undefined && locale !== "" && !/utf-?8/i.test(locale);
}

/** Each of our own signs as one that takes the same column; names from elsewhere stay as they are. */
const toAscii = (line: string): string => line.replace(/[█-▏·…≥→–✗×┄]/g, (sign) => ASCII[sign] ?? "?");

const ASCII: Readonly<Record<string, string>> = {
  "█": "#",
  "▉": "#",
  "▊": "#",
  "▋": "#",
  "▌": "#",
  "▍": "-",
  "▎": "-",
  "▏": "-",
  "·": "-",
  "…": "~",
  "≥": ">",
  "→": ">",
  "–": "-",
  "✗": "x",
  "×": "x",
};
