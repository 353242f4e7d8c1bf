import type { FileWrite } from "../../model/file-write.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { writesOfDiff } from "../shared/payload/patches.ts";

/** Files that `write_file` and `replace` changed, from the diff that is displayed; it includes the user's changes. */
export function toFileWrites(payload: unknown): readonly FileWrite[] {
  const p = asObject(payload);
  if (p?.["hook_event_name"] !== "AfterTool" || !EDITORS.has(asString(p["tool_name"]) ?? "")) return [];
  const display = asObject(asObject(p["tool_response"])?.["returnDisplay"]);
  const path = asString(display?.["filePath"]) ?? asString(asObject(p["tool_input"])?.["file_path"]);
  if (path === undefined) return [];
  const isNew = display?.["isNewFile"];
  const target = {
    path,
    ...(typeof isNew === "boolean" && { operation: isNew ? ("create" as const) : ("update" as const) }),
  };
  const diff = asString(display?.["fileDiff"]);
  return diff === undefined ? [target] : writesOfDiff(target, diff);
}

// --- internal ---

const EDITORS: ReadonlySet<string> = new Set(["write_file", "replace"]);
