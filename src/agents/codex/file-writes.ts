import type { FileWrite } from "../../model/file-write.ts";
import { asArray, asObject, asString } from "../shared/payload/json.ts";
import { writesOfPatch } from "../shared/payload/patches.ts";
import { outcomeOf } from "./outcome.ts";

/** Files that `apply_patch` changed. Its hunks name no line numbers, so only new files have ranges. */
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
