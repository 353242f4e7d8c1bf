import { fileURLToPath } from "node:url";
import { changeEntries, changesOfCall, type RelevantCall, relevantCall } from "../shared/changes/call-changes.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { factBase, type Line, type LineContext } from "./line-context.ts";
import { isInnerCall, shellCommandOf } from "./tools.ts";

/** Commits and changes of a call by a script. They belong to the script, the last open call, because only calls of the model count. */
export function scriptChanges(context: LineContext, item: Line): void {
  const call = scriptCall(item);
  const hasFailed = item["status"] !== "completed" || (item["exit_code"] ?? 0) !== 0;
  if (call === undefined || hasFailed) return;
  const { timeMs, agentId } = factBase(context, "");
  const result = item["aggregated_output"] ?? item["result"];
  const found = changesOfCall(call, result, folderOf(item["cwd"]));
  const callId = context.state.open?.at(-1);
  for (const entry of changeEntries(found, { timeMs, agentId, callId })) context.sink.other(entry);
}

/** A call by a script whose result must be examined. */
export function scriptCall(item: Line): RelevantCall | undefined {
  if (!isInnerCall(asString(item["id"]))) return undefined;
  return item["type"] === "McpToolCall"
    ? relevantCall(asString(item["tool"]), undefined)
    : relevantCall(undefined, shellCommandOf(asObject(item)));
}

// --- internal ---

/** The path of a folder, which versions since 0.169.0, perhaps earlier ones too, write as a `file:` URL. */
function folderOf(value: unknown): string | undefined {
  const folder = asString(value);
  if (folder?.startsWith("file:") !== true) return folder;
  try {
    return fileURLToPath(folder);
  } catch {
    return undefined;
  }
}
