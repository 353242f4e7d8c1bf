import type { PayloadFacts } from "../../model/agent.ts";
import type { FileWrite } from "../../model/file-write.ts";
import { asArray, asCount, asObject, asString } from "../shared/payload/json.ts";
import { writesOfHunks } from "../shared/payload/patches.ts";
import { writesOfTools } from "../shared/payload/tool-writes.ts";

/** Files that `Create` and `Edit` changed; the result of an edit is JSON with the changed lines. */
export function toFileWrites(payload: unknown, facts: PayloadFacts): readonly FileWrite[] {
  const written = writesOfArguments(payload, facts);
  const [first] = written;
  const lines = asArray(resultOf(payload)?.["diffLines"])
    .map(asObject)
    .filter((line) => line !== undefined);
  if (first === undefined || lines.length === 0) return written;
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
  return writesOfHunks({ path: first.path, ...(first.operation && { operation: first.operation }) }, hunks);
}

// --- internal ---

const writesOfArguments = writesOfTools({ Create: "whole", Edit: "part" });
/** After removed lines, whose place in the new file is not known yet. */
const UNPLACED = Number.POSITIVE_INFINITY;

function resultOf(payload: unknown): Readonly<Record<string, unknown>> | undefined {
  try {
    return asObject(JSON.parse(asString(asObject(payload)?.["tool_response"]) ?? ""));
  } catch {
    return undefined;
  }
}
