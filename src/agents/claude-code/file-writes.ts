import type { FileWrite } from "#core/model/file-write.ts";
import { asArray, asCount, asObject, asString, type Fields } from "../shared/payload/json.ts";
import { writeOfContent, writesOfHunks } from "../shared/payload/patches.ts";

/** Files that Write, Edit, MultiEdit and NotebookEdit changed, from the result's `structuredPatch` where there is one. */
export function toFileWrites(payload: unknown): readonly FileWrite[] {
  const p = asObject(payload);
  const name = asString(p?.["tool_name"]) ?? "";
  if (p?.["hook_event_name"] === "PreToolUse" || !EDITORS.has(name)) return [];
  const input = asObject(p?.["tool_input"]);
  const given = [input?.["file_path"], input?.["notebook_path"]].map(asString).find((one) => one !== undefined);
  return writesIn(asObject(p?.["tool_response"]), given, name === "Write");
}

/** Files that the result of such a tool in a transcript names; `undefined` for results of other tools. */
export function writesOfResult(result: Fields | undefined): readonly FileWrite[] | undefined {
  if (!Array.isArray(result?.["structuredPatch"]) && result?.["notebook_path"] === undefined) return undefined;
  return writesIn(result, undefined, false);
}

// --- internal ---

const EDITORS: ReadonlySet<string> = new Set(["Write", "Edit", "MultiEdit", "NotebookEdit"]);

/**
 * @param given path in the arguments
 * @param isWhole the tool writes whole files, so that only its result says whether the file is new
 */
function writesIn(result: Fields | undefined, given: string | undefined, isWhole: boolean): readonly FileWrite[] {
  const path = asString(result?.["filePath"]) ?? asString(result?.["notebook_path"]) ?? given;
  // NotebookEdit reports its failures as results
  if (path === undefined || (asString(result?.["error"]) ?? "") !== "") return [];
  if (result?.["type"] === "create") {
    return [writeOfContent({ path, operation: "create" }, asString(result["content"]) ?? "", true)];
  }
  const isKnown = !isWhole || result?.["type"] === "update";
  const target = { path, ...(isKnown && { operation: "update" as const }) };
  const patch = result?.["structuredPatch"];
  if (!Array.isArray(patch)) return [target];
  return writesOfHunks(
    target,
    patch.flatMap((hunk) => {
      const newStart = asCount(asObject(hunk)?.["newStart"]);
      const lines = asArray(asObject(hunk)?.["lines"]).filter((line) => typeof line === "string");
      return newStart === undefined ? [] : [{ newStart, lines }];
    }),
  );
}
