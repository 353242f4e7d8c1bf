import type { PayloadFacts } from "#core/model/agent.ts";
import type { FileWrite } from "#core/model/file-write.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { writeOfContent } from "../shared/payload/patches.ts";

/**
 * Files that Kiro's tools changed: the CLI's `fs_write` from its arguments, the editor's tools from the text of their result, because
 * their arguments are missing there.
 */
export function toFileWrites(payload: unknown, { events: [event] }: PayloadFacts): readonly FileWrite[] {
  if (event?.type !== "tool.end" || !EDITORS.has(event.data?.tool_name ?? "")) return [];
  const p = asObject(payload);
  const input = asObject(p?.["tool_input"]) ?? asObject(p?.["toolArgs"]);
  const path = asString(input?.["path"]) ?? asString(input?.["targetFile"]);
  if (path === undefined) return writeIn(asString(p?.["tool_response"]) ?? "");
  const command = asString(input?.["command"]);
  if (command === "create") return [writeOfContent({ path }, asString(input?.["file_text"]) ?? "", false)];
  const isPart = command !== undefined || input?.["oldStr"] !== undefined;
  return [{ path, ...(isPart && { operation: "update" as const }) }];
}

// --- internal ---

const EDITORS: ReadonlySet<string> = new Set(["fs_write", "write", "str_replace", "fs_append"]);

function writeIn(text: string): readonly FileWrite[] {
  const [, created] = /^Created the (.+) file\.$/.exec(text) ?? [];
  const [, replaced] = /^Replaced text in (.+)$/.exec(text) ?? [];
  if (created !== undefined) return [{ path: created, operation: "create" }];
  return replaced === undefined ? [] : [{ path: replaced, operation: "update" }];
}
