import { HEADER_NAME, HEADER_VALUE, type Headers } from "#config/headers.ts";

/**
 * Parses headers: a JSON object of strings, as helpers of other programs print it.
 *
 * @param canBeLines also one `name: value` per line, as in `curl --header @file`
 * @returns `problem`: the end of a sentence, without any part of the text
 */
export function parseHeaders(
  text: string,
  { canBeLines }: { readonly canBeLines: boolean },
): { readonly headers: Headers; readonly problem?: string } {
  const trimmed = text.replace(/^\uFEFF/, "").trim();
  if (trimmed === "") return { headers: {}, problem: "is empty" };
  const pairs = trimmed.startsWith("{") || !canBeLines ? fromJson(trimmed) : fromLines(trimmed);
  if (pairs === undefined) return { headers: {}, problem: "is not a JSON object of strings" };
  for (const [i, [name, value]] of pairs.entries()) {
    const at = `in header ${i + 1}`;
    if (!HEADER_NAME.test(name)) return { headers: {}, problem: `has a name that HTTP does not allow ${at}` };
    if (!HEADER_VALUE.test(value)) return { headers: {}, problem: `has a line break or control character ${at}` };
  }
  return { headers: Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value])) };
}

// --- internal ---

type Pairs = readonly (readonly [name: string, value: string])[];

function fromJson(text: string): Pairs | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    const pairs = Object.entries(value);
    return pairs.every((pair): pair is [string, string] => typeof pair[1] === "string") ? pairs : undefined;
  } catch {
    return undefined;
  }
}

const fromLines = (text: string): Pairs =>
  text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, Math.max(0, colon)).trim(), line.slice(colon + 1).trim()];
    });
