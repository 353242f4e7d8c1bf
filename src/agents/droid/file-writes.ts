import type { PayloadFacts } from "#core/model/agent.ts";
import type { FileWrite } from "#core/model/file-write.ts";
import { asArray, asCount, asObject, asString, parsedJson } from "../shared/payload/json.ts";
import { writesOfHunks } from "../shared/payload/patches.ts";
import { type Editors, writesOfTools } from "../shared/payload/tool-writes.ts";

/** Files that `Create` and `Edit` changed; the result of an edit is JSON with the changed lines. */
export function toFileWrites(payload: unknown, facts: PayloadFacts): readonly FileWrite[] {
  const written = writesOfArguments(payload, facts);
  const [first] = written;
  return (first && writesOfResult(asObject(payload)?.["tool_response"], first.path)) ?? written;
}

/**
 * The places that an edit changed.
 *
 * @param result of the call, as hooks and session files have it
 * @param given path in the arguments, if it is known
 * @returns `undefined` for results of other tools
 */
export function writesOfResult(result: unknown, given?: string): readonly FileWrite[] | undefined {
  const text = asString(result);
  const fields = text?.includes('"diffLines"') === true ? asObject(parsedJson(text)) : undefined;
  const path = given ?? asString(fields?.["file_path"]);
  const lines = asArray(fields?.["diffLines"])
    .map(asObject)
    .filter((line) => line !== undefined);
  if (path === undefined || lines.length === 0) return undefined;
  // One hunk for each run of consecutive changed lines
  const hunks: { newStart: number; lines: string[] }[] = [];
  let next = 0;
  for (const line of lines) {
    const at = asObject(line["lineNumber"]);
    const isAdded = line["type"] === "added";
    const atNew = asCount(at?.["new"]);
    if (!isAdded && line["type"] !== "removed") {
      next = 0;
      continue;
    }
    const last = hunks.at(-1);
    const follows = last !== undefined && next > 0 && (!isAdded || atNew === next || next === UNPLACED);
    if (!follows) hunks.push({ newStart: atNew ?? 0, lines: [] });
    const hunk = hunks.at(-1);
    if (hunk === undefined) continue;
    if (isAdded && hunk.newStart === 0) hunk.newStart = atNew ?? 0;
    hunk.lines.push(isAdded ? "+" : "-");
    if (isAdded) next = (atNew ?? 0) + 1;
    else if (!follows) next = UNPLACED;
  }
  return writesOfHunks({ path, operation: "update" }, hunks);
}

/** The tools that change files. */
export const EDITORS: Editors = { Create: "whole", Edit: "part" };

// --- internal ---

const writesOfArguments = writesOfTools(EDITORS);
/** After removed lines, whose place in the new file is not known yet. */
const UNPLACED = Number.POSITIVE_INFINITY;
