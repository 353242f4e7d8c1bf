import type { PayloadFacts } from "#core/model/agent.ts";
import type { FileWrite } from "#core/model/file-write.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { writeOfContent, writesOfPatch } from "../shared/payload/patches.ts";
import { readPayload } from "./payload.ts";

/** Files that `create`, `edit` and `apply_patch` changed. `edit` names texts and no lines, so its lines are unknown. */
export function toFileWrites(payload: unknown, { events }: PayloadFacts): readonly FileWrite[] {
  const p = events[0]?.type === "tool.end" ? readPayload(payload, END) : undefined;
  if (p?.event !== "postToolUse") return [];
  return writesOfCall(p.toolName, p.toolInput);
}

/** The same from a call's arguments. */
export function writesOfCall(name: string | undefined, given: unknown): readonly FileWrite[] {
  const input = asObject(given);
  const path = asString(input?.["path"]) ?? asString(input?.["file_path"]);
  switch (name) {
    case "create": {
      // The tool refuses to replace a file
      const text = input?.["file_text"] ?? input?.["content"];
      if (path === undefined) return [];
      return [
        typeof text === "string"
          ? writeOfContent({ path, operation: "create" }, text, true)
          : { path, operation: "create" },
      ];
    }
    case "edit":
    case "insert":
      return path === undefined ? [] : [{ path, operation: "update" }];
    case "apply_patch":
      return writesOfPatch(asString(given) ?? asString(input?.["input"]) ?? asString(input?.["patch"]) ?? "");
    default:
      return [];
  }
}

// --- internal ---

/** For payloads without an event name; only its shape matters here. */
const END: IntakeFacts = { event: "postToolUse", timeMs: 0, env: {}, payloadBytes: 0, truncated: false };
