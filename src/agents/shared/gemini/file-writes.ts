import type { FileWrite } from "#core/model/file-write.ts";
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
    const given = asString(asObject(p["tool_input"])?.["file_path"]);
    return writesOfDisplay(asObject(p["tool_response"])?.["returnDisplay"], given) ?? [];
  };

/**
 * Files in what an editing tool displayed, as hooks and session files have it.
 *
 * @param given path in the arguments, if the display has none
 * @returns `undefined` without a path
 */
export function writesOfDisplay(displayed: unknown, given: string | undefined): readonly FileWrite[] | undefined {
  const display = asObject(displayed);
  const path = asString(display?.["filePath"]) ?? given;
  if (path === undefined) return undefined;
  const isNew = display?.["isNewFile"];
  const target = {
    path,
    ...(typeof isNew === "boolean" && { operation: isNew ? ("create" as const) : ("update" as const) }),
  };
  const diff = display?.["fileDiffTruncated"] === true ? undefined : asString(display?.["fileDiff"]);
  return diff === undefined ? [target] : writesOfDiff(target, diff);
}
