import type { FileWrite } from "#core/model/file-write.ts";
import { asArray, asObject, asString } from "../shared/payload/json.ts";
import { lineCount, writeOfContent, writesOfDiff, writesOfPatch } from "../shared/payload/patches.ts";
import { outcomeOf } from "./outcome.ts";

/** Files that `apply_patch` changed, as hooks report them. Its hunks name no line numbers, so only new files have ranges. */
export function toFileWrites(payload: unknown): readonly FileWrite[] {
  const p = asObject(payload);
  if (p?.["hook_event_name"] !== "PostToolUse") return [];
  const input = asObject(p["tool_input"]);
  const path = asString(input?.["file_path"]);
  switch (p["tool_name"]) {
    case "apply_patch": {
      const response = p["tool_response"] ?? p["tool_output"];
      if (typeof response === "string" && outcomeOf(response).status !== "success") return [];
      const command = input?.["command"] ?? input?.["input"] ?? p["tool_input"];
      return writesOfPatch(asString(command) ?? asArray(command).map(String).join("\n"));
    }
    // As in the documented schemas
    case "Write":
      return path === undefined ? [] : [{ path }];
    case "Edit":
      return path === undefined ? [] : [{ path, operation: "update" }];
    default:
      return [];
  }
}

/** The same from a session file, where each changed file has a diff, so that all ranges are known. A moved file is deleted and created. */
export function writesOfChanges(changes: unknown): readonly FileWrite[] {
  return Object.entries(asObject(changes) ?? {}).flatMap(([path, value]): readonly FileWrite[] => {
    const change = asObject(value);
    const content = typeof change?.["content"] === "string" ? change["content"] : "";
    switch (change?.["type"]) {
      case "add":
        return [writeOfContent({ path, operation: "create" }, content, true)];
      case "delete":
        return [{ path, operation: "delete", added: 0, removed: lineCount(content) }];
      case "update": {
        const diff = asString(change["unified_diff"]) ?? "";
        const moved = asString(change["move_path"]);
        if (moved === undefined) return writesOfDiff({ path, operation: "update" }, diff);
        return [{ path, operation: "delete" }, ...writesOfDiff({ path: moved, operation: "create" }, diff)];
      }
      default:
        return [];
    }
  });
}
