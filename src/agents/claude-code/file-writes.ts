import type { FileWrite } from "../../model/file-write.ts";
import { asArray, asCount, asObject, asString } from "../shared/payload/json.ts";
import { writeOfContent, writesOfHunks } from "../shared/payload/patches.ts";

/** Files that Write, Edit, MultiEdit and NotebookEdit changed, from the result's `structuredPatch` where there is one. */
export function toFileWrites(payload: unknown): readonly FileWrite[] {
  const p = asObject(payload);
  const name = asString(p?.["tool_name"]) ?? "";
  if (p?.["hook_event_name"] === "PreToolUse" || !EDITORS.has(name)) return [];
  const result = asObject(p?.["tool_response"]);
  const input = asObject(p?.["tool_input"]);
  const path = [result?.["filePath"], input?.["file_path"], result?.["notebook_path"], input?.["notebook_path"]]
    .map(asString)
    .find((one) => one !== undefined);
  // NotebookEdit reports its failures as results
  if (path === undefined || (asString(result?.["error"]) ?? "") !== "") return [];
  const patch = result?.["structuredPatch"];
  if (result?.["type"] === "create") {
    return [writeOfContent({ path, operation: "create" }, asString(result["content"]) ?? "", true)];
  }
  const isKnown = name !== "Write" || result?.["type"] === "update";
  const target = { path, ...(isKnown && { operation: "update" as const }) };
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

// --- internal ---

const EDITORS: ReadonlySet<string> = new Set(["Write", "Edit", "MultiEdit", "NotebookEdit"]);
