import type { PayloadFacts } from "#core/model/agent.ts";
import type { FileWrite } from "#core/model/file-write.ts";
import { asArray, asObject, asString, ownOf } from "../shared/payload/json.ts";
import { writeOfContent } from "../shared/payload/patches.ts";

/** `file_changes` of a call's end: the files with their old and new texts. */
export function toFileWrites(payload: unknown, { events }: PayloadFacts): readonly FileWrite[] {
  if (events[0]?.type !== "tool.end") return [];
  return asArray(asObject(payload)?.["file_changes"]).flatMap((one): readonly FileWrite[] => {
    const change = asObject(one);
    const path = asString(change?.["path"]);
    const operation = ownOf(OPERATIONS, asString(change?.["changeType"]));
    if (path === undefined) return [];
    const content = change?.["content"];
    if (operation === "create" && typeof content === "string") {
      return [writeOfContent({ path, operation }, content, true)];
    }
    return [{ path, ...(operation !== undefined && { operation }) }];
  });
}

// --- internal ---

const OPERATIONS: Readonly<Record<string, NonNullable<FileWrite["operation"]>>> = {
  create: "create",
  edit: "update",
  delete: "delete",
};
