import type { PayloadFacts } from "#core/model/agent.ts";
import type { FileWrite } from "#core/model/file-write.ts";
import { asArray, asCount, asObject, asString } from "../shared/payload/json.ts";
import { lineCount } from "../shared/payload/patches.ts";

/** Files that `write` and `search_replace` changed. */
export function toFileWrites(payload: unknown, { events: [event] }: PayloadFacts): readonly FileWrite[] {
  if (event?.type !== "tool.end") return [];
  const p = asObject(payload);
  return writesOfResult(p?.["toolResult"] ?? p?.["tool_response"]);
}

/** The same from a call's result, which hooks and session files have, from the applied edits; a failed edit has none there. */
export function writesOfResult(result: unknown): readonly FileWrite[] {
  const applied = asObject(asObject(result)?.["EditsApplied"]);
  const path = asString(applied?.["absolute_path"]);
  if (path === undefined) return [];
  const isNew = asString(applied?.["tool_output_for_prompt"])?.endsWith("has been created.") === true;
  const target = { path, operation: isNew ? ("create" as const) : ("update" as const) };
  const writes = asArray(asObject(applied?.["edits"])?.["details"]).flatMap((detail): readonly FileWrite[] => {
    const edit = asObject(detail);
    const [before, after] = [edit?.["old_string"], edit?.["new_string"]];
    const startLine = asCount(edit?.["new_line"]);
    if (typeof before !== "string" || typeof after !== "string") return [];
    const added = lineCount(after);
    const range = startLine === undefined || added === 0 ? {} : { startLine, endLine: startLine + added - 1 };
    return [{ ...target, ...range, added, removed: lineCount(before) }];
  });
  return writes.length > 0 && writes.length <= MAX_RANGES ? writes : [target];
}

// --- internal ---

/** A call with more changes replaced a text everywhere in the file; the ranges say little then. */
const MAX_RANGES = 50;
