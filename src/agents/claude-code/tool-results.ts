import type { ToolStatus } from "#core/model/transcript.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { writesOfResult } from "./file-writes.ts";
import { factBase, type Line, type LineContext, lineId } from "./line-context.ts";
import { patchLines } from "./patch.ts";
import { exitCodeOf, textOf } from "./texts.ts";
import { countedCall, globalCallId } from "./tool-ids.ts";
import { writtenSince } from "./version.ts";

/** A line with one or more results of tools, one block each. */
export function toolResults(context: LineContext, blocks: readonly unknown[]): void {
  const { o, state, agentId, sink } = context;
  const result = asObject(o["toolUseResult"]);
  const patch = patchLines(result);
  for (const block of blocks) {
    const b = asObject(block) ?? {};
    const given = asString(b["tool_use_id"]);
    if (given === undefined) continue;
    const callId = countedCall(state, given, agentId)?.callId ?? given;
    const text = textOf(b["content"]) ?? asString(o["toolUseResult"]) ?? "";
    const status = statusOf(o, b, text);
    const isError = status === "error";
    const base = factBase(context, `result:${callId}`, `result:${globalCallId(given, () => lineId(context))}`);
    const fact = {
      callId,
      status,
      errorType: isError && isInterrupted(o, text) ? "interrupted" : undefined,
      exitCode: isError ? (exitCodeOf(text) ?? exitCodeOf(o["toolUseResult"])) : undefined,
      linesAdded: patch.lines_added,
      linesRemoved: patch.lines_removed,
      spawnedAgentId: asString(result?.["agentId"]),
      // Of one of several results it is not known which one it is
      files: status === "success" && blocks.length === 1 ? writesOfResult(result) : undefined,
    };
    sink.toolResult(base, fact, text);
  }
  state.inputMs = context.timeMs;
  const uuid = asString(o["uuid"]);
  if (uuid !== undefined && result?.["commandName"] !== undefined) state.launched = uuid;
}

// --- internal ---

const isInterrupted = (o: Line, text: string): boolean =>
  asObject(o["toolUseResult"])?.["interrupted"] === true ||
  isStoppedWhileRunning(o) ||
  text.startsWith("[Request interrupted by user") ||
  // One of several parallel calls failed: the others do not run
  /^<tool_use_error>(?:Cancelled: parallel tool call |Sibling tool call errored)/.test(text);

/**
 * Whether the user or another call stopped the call while it ran. Since 2.1.329 at the latest, such a call is also written as
 * rejected; a call that the user refused has the decision, or is marked as not started.
 */
function isStoppedWhileRunning(o: Line): boolean {
  const kind = o["toolDenialKind"];
  if (kind !== "user-rejected") return kind === "interrupted" || kind === "cancelled";
  const hasDecision = o["permissionDecision"] !== undefined || o["toolDenialBeforeRun"] === true;
  return !hasDecision && writtenSince(o, DECISIONS_SINCE);
}
const DECISIONS_SINCE = "2.1.329";

function statusOf(o: Line, block: Line, text: string): ToolStatus {
  // Written for a call that a killed process left open; its outcome is unknown
  if (text.startsWith("[Tool ") && /^\[Tool (?:use|call) interrupted/.test(text)) return "unfinished";
  if (isStoppedWhileRunning(o)) return "error";
  if (asObject(o["permissionDecision"])?.["decision"] === "reject" || o["toolDenialKind"] !== undefined)
    return "denied";
  if (block["is_error"] !== true) return "success";
  // In older versions, and for files denied by a rule in all but the newest, only the wording distinguishes a refusal from a failure
  return REFUSALS.some((wording) => wording.test(text)) ? "denied" : "error";
}

/** Claude Code's texts for refusals, from 1.0 on. Some begin with a path. */
const REFUSALS: readonly RegExp[] = [
  /^(?:Permission (?:to \w+|for this) |The user doesn't want to |Claude requested permissions |\S+ hook error: )/,
  /^<tool_use_error>File is in a directory that is denied by /,
  /^(?:Hook \S+ denied this tool|\S+ operation blocked by hook)/,
  /^This (?:command requires|\w+ command contains multiple operations\. The following parts? requires?) approval/,
  /^Agent type '[^'\n]{1,200}' has been denied by permission rule /,
  /^[^\n]{1,500} was blocked\. For security, Claude Code may /,
];
