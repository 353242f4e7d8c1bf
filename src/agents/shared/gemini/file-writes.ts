import type { FileWrite } from "../../../model/file-write.ts";
import { asObject, asString } from "../payload/json.ts";
import { writesOfDiff } from "../payload/patches.ts";

/**
 * Files that an editing tool changed, from the diff that is displayed; it includes the user's changes.
 *
 * @param ended name of the event that a call's end sends
 * @param editors names of the tools that edit files
 */
export const displayedWrites =
  (ended: string, editors: ReadonlySet<string>) =>
  (payload: unknown): readonly FileWrite[] => {
    const p = asObject(payload);
    if (p?.["hook_event_name"] !== ended || !editors.has(asString(p["tool_name"]) ?? "")) return [];
    const display = asObject(asObject(p["tool_response"])?.["returnDisplay"]);
    const path = asString(display?.["filePath"]) ?? asString(asObject(p["tool_input"])?.["file_path"]);
    if (path === undefined) return [];
    const isNew = display?.["isNewFile"];
    const target = {
      path,
      ...(typeof isNew === "boolean" && { operation: isNew ? ("create" as const) : ("update" as const) }),
    };
    const diff = display?.["fileDiffTruncated"] === true ? undefined : asString(display?.["fileDiff"]);
    return diff === undefined ? [target] : writesOfDiff(target, diff);
  };
