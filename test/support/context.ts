import { Readable } from "node:stream";
import type { Context } from "#config/context.ts";
import type { Places } from "#config/places.ts";

/** A command's context with the given places, and its output so far. stdout is a terminal only if `columns` is set. */
export function contextAt(
  places: Places,
  options: ContextOptions = {},
): { context: Context; out: () => string; err: () => string } {
  const { columns, env = {}, cwd = places.home, now = Date.now, programPath = "/usr/lib/openhook-otel.cjs" } = options;
  const { platform = "linux" } = options;
  const [out, err]: [string[], string[]] = [[], []];
  const context: Context = {
    env,
    cwd,
    platform,
    arch: "x64",
    places,
    stdin: Readable.from([]),
    stdout: { write: (text) => out.push(text), ...(columns !== undefined && { isTTY: true, columns }) },
    stderr: { write: (text) => err.push(text) },
    now,
    nodePath: process.execPath,
    programPath,
  };
  return { context, out: () => out.join(""), err: () => err.join("") };
}

export interface ContextOptions {
  /** Makes stdout a terminal this wide. */
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly now?: () => number;
  readonly programPath?: string;
  /** @default Linux, wherever the test runs */
  readonly platform?: NodeJS.Platform;
}

/** Display width by a separate table, independent of the library that the program uses. Counts joined emoji one by one. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) {
    if (/^[\p{Mn}\p{Me}\u200c\u200d]$/u.test(character)) continue;
    columns += WIDE.test(character) ? 2 : 1;
  }
  return columns;
}

/** Colour sequences: the only control sequences that output may contain. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters
export const SGR = /\x1b\[[0-9;]*m/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters
export const CONTROL = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

// --- internal ---

/** East Asian Wide and Fullwidth, and characters displayed as emoji. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\p{Emoji_Presentation}\u{20000}-\u{3fffd}]$/u;
