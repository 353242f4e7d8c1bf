import type { PayloadFacts } from "#core/model/agent.ts";
import type { FileWrite } from "#core/model/file-write.ts";
import { asArray, asCount, asObject, asString } from "../shared/payload/json.ts";
import { writeOfContent } from "../shared/payload/patches.ts";
import type { Editors } from "../shared/payload/tool-writes.ts";

/** Files that `write` and `edit` changed. Our extension sends numbers of lines instead of texts. */
export function toFileWrites(payload: unknown, { events }: PayloadFacts): readonly FileWrite[] {
  const event = asObject(asObject(payload)?.["event"]);
  const input = asObject(event?.["input"]);
  const path = asString(input?.["path"]);
  if (event?.["type"] !== "tool_result" || events[0]?.type !== "tool.end" || path === undefined) return [];
  if (event["toolName"] === "write") {
    // Whether the file existed is not reported
    if (typeof input?.["content"] === "string") return [writeOfContent({ path }, input["content"], false)];
    const lines = asCount(input?.["lines"]) ?? 0;
    return [{ path, ...(lines > 0 && { startLine: 1, endLine: lines }) }];
  }
  if (event["toolName"] !== "edit") return [];
  const details = asObject(event["details"]);
  const counts = asObject(details?.["counts"]);
  const diff = asString(details?.["diff"]);
  const added = diff === undefined ? asCount(counts?.["added"]) : linesWith(diff, "+");
  const removed = diff === undefined ? asCount(counts?.["removed"]) : linesWith(diff, "-");
  return [
    {
      path,
      operation: "update",
      ...(added !== undefined && { added }),
      ...(removed !== undefined && { removed }),
    },
  ];
}

/** The tools that change files. */
export const EDITORS: Editors = { write: "whole", edit: "part" };

/** Lines that an edit added and removed, by the details of its result; none for other tools. */
export function editedLines(details: unknown): { readonly linesAdded?: number; readonly linesRemoved?: number } {
  const diff = asString(asObject(details)?.["diff"]);
  return diff === undefined ? {} : { linesAdded: linesWith(diff, "+"), linesRemoved: linesWith(diff, "-") };
}

// --- internal ---

/** In pi's own form of a diff, each line begins with its sign and its number. */
const linesWith = (diff: string, sign: "+" | "-"): number =>
  asArray(diff.split("\n")).filter((line) => String(line).startsWith(sign)).length;
