import { asArray, asObject, asString } from "../shared/payload/json.ts";
import { lineCount } from "../shared/payload/patches.ts";

/**
 * Counts the lines that an edit added and removed, from the result of a Write or Edit.
 *
 * @returns no counts for other results: unknown, not zero
 */
export function patchLines(result: Readonly<Record<string, unknown>> | undefined): {
  lines_added?: number;
  lines_removed?: number;
} {
  if (result === undefined || !Array.isArray(result["structuredPatch"])) return {};
  if (result["type"] === "create") return { lines_added: lineCount(asString(result["content"])), lines_removed: 0 };
  const lines = asArray(result["structuredPatch"]).flatMap((hunk) => asArray(asObject(hunk)?.["lines"]));
  const starting = (sign: string) => lines.filter((line) => typeof line === "string" && line.startsWith(sign)).length;
  return { lines_added: starting("+"), lines_removed: starting("-") };
}
