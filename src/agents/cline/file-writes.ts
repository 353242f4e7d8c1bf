import type { PayloadFacts } from "#core/model/agent.ts";
import type { FileWrite } from "#core/model/file-write.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { writeOfContent, writesOfPatch } from "../shared/payload/patches.ts";

/**
 * Files that the CLI's `editor` and the extension's `write_to_file`, `replace_in_file` and `apply_patch` changed. Whether a file that
 * is written as a whole was there before is unknown, and so are the lines of replaced texts.
 */
export function toFileWrites(payload: unknown, { events }: PayloadFacts): readonly FileWrite[] {
  if (events[0]?.type !== "tool.end") return [];
  const p = asObject(payload);
  const call = asObject(p?.["tool_result"]);
  const extension = asObject(p?.["postToolUse"]);
  const name = asString(call?.["name"]) ?? asString(extension?.["toolName"]);
  const input = asObject(call?.["input"]) ?? asObject(extension?.["parameters"]);
  return writesOfCall(name, input) ?? [];
}

/** The same from a call's arguments. @returns `undefined` for other tools */
export function writesOfCall(name: string | undefined, given: unknown): readonly FileWrite[] | undefined {
  const input = asObject(given);
  const path = asString(input?.["path"]) ?? asString(input?.["absolutePath"]);
  switch (name) {
    case "editor": {
      if (path === undefined) return undefined;
      const text = asString(input?.["new_text"]);
      const isPart = asString(input?.["old_text"]) !== undefined || input?.["insert_line"] !== undefined;
      return [isPart || text === undefined ? { path, operation: "update" } : writeOfContent({ path }, text, false)];
    }
    case "write_to_file":
      return path === undefined ? undefined : [writeOfContent({ path }, asString(input?.["content"]) ?? "", false)];
    case "replace_in_file":
      return path === undefined ? undefined : [{ path, operation: "update" }];
    case "apply_patch":
      return writesOfPatch(asString(input?.["input"]) ?? asString(input?.["patch"]) ?? "");
    default:
      return undefined;
  }
}
