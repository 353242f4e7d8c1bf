import type { EntryOf, ToolStatus } from "#core/model/transcript.ts";
import { asArray, asCount, asObject, asString, ownOf } from "../shared/payload/json.ts";
import { openCall } from "./call-ids.ts";
import { writesOfChanges } from "./file-writes.ts";
import { callKey, factBase, type Line, type LineContext } from "./line-context.ts";
import { exitOutcome } from "./outcome.ts";
import { scriptChanges } from "./script-changes.ts";
import { isInnerCall } from "./tools.ts";

/**
 * Reads exit code, duration and changed lines of a tool call, which Codex reports after it ran the tool. Only calls of the model
 * that have no output yet give facts, not commands that end long after their call; of calls by a script only commits and changes count.
 */
export function item(context: LineContext): void {
  const item = asObject(context.p["item"]) ?? context.p;
  switch (item["type"]) {
    case "CommandExecution":
    case "exec_command_end":
      result(context, item, { ...commandOutcome(item), durationMs: durationOf(item["duration"]) });
      return;
    case "FileChange":
    case "patch_apply_end":
      result(context, item, changedFiles(item));
      return;
    case "McpToolCall":
    case "mcp_tool_call_end":
      result(context, item, { ...mcpOutcome(item), durationMs: durationOf(item["duration"]) });
      return;
    case "SubAgentActivity":
      if (item["kind"] === "started") spawned(context, item, [item["agent_thread_id"]]);
      return;
    case "CollabAgentToolCall":
      if (/^spawn/i.test(String(item["tool"]))) spawned(context, item, asArray(item["receiver_thread_ids"]));
      return;
    case "collab_agent_spawn_end":
      spawned(context, item, [item["new_thread_id"]]);
      return;
    default:
  }
}

// --- internal ---

type Outcome = Partial<
  Pick<EntryOf<"tool_result">, "status" | "exitCode" | "durationMs" | "linesAdded" | "linesRemoved" | "files">
>;

function result(context: LineContext, item: Line, { status, ...rest }: Loose): void {
  const callId = openCall(context.state, asString(item["id"]) ?? asString(item["call_id"]));
  if (callId === undefined) scriptChanges(context, item);
  if (callId === undefined || status === undefined) return;
  context.sink.toolResult(factBase(context, callKey("result", context, callId)), { callId, status, ...rest });
}

type Loose = { readonly [K in keyof Outcome]?: Outcome[K] | undefined };

function statusOf(item: Line): Loose {
  if (item["success"] === false) return { status: "error" };
  return { status: ownOf(STATUS, String(item["status"])) ?? (item["success"] === true ? "success" : undefined) };
}

const STATUS: Readonly<Record<string, ToolStatus>> = { completed: "success", failed: "error", declined: "denied" };

function commandOutcome(item: Line): Loose {
  const exitCode = item["exit_code"];
  const { status } = statusOf(item);
  if (typeof exitCode !== "number" || !Number.isInteger(exitCode)) return { status };
  const byCode = exitOutcome(exitCode);
  return { status: status ?? byCode.status, exitCode: byCode.exitCode };
}

function mcpOutcome(item: Line): Loose {
  const outcome = asObject(item["result"]);
  const isError = (asObject(outcome?.["Ok"]) ?? outcome)?.["isError"];
  if (isError === true || outcome?.["Err"] !== undefined) return { status: "error" };
  const { status } = statusOf(item);
  return { status: status ?? (outcome === undefined ? undefined : "success") };
}

function durationOf(value: unknown): number | undefined {
  const duration = asObject(value);
  const secs = asCount(duration?.["secs"]);
  return secs === undefined ? undefined : secs * 1000 + (asCount(duration?.["nanos"]) ?? 0) / 1e6;
}

/** The files that a patch changed, and their lines. A patch that failed can have changes too, which it did not make. */
function changedFiles(item: Line): Loose {
  const { status } = statusOf(item);
  const writes = writesOfChanges(item["changes"]);
  if (writes.length === 0) return { status };
  const sum = (name: "added" | "removed"): number => writes.reduce((total, write) => total + (write[name] ?? 0), 0);
  const files = status === "success" ? writes : undefined;
  return { status, linesAdded: sum("added"), linesRemoved: sum("removed"), files };
}

/** A line of the parent's file. If a script starts the subagent, the parent call is the script's call, the last open one. */
function spawned(context: LineContext, item: Line, threadIds: readonly unknown[]): void {
  const written = asString(item["id"]) ?? asString(item["call_id"]);
  const { threadId, rootId, open } = context.state;
  const parentCallId = isInnerCall(written) ? open?.at(-1) : (openCall(context.state, written) ?? written);
  for (const value of threadIds) {
    const agentId = asString(value);
    if (agentId === undefined) continue;
    context.sink.other({
      kind: "subagent",
      ...factBase(context, `subagent:${agentId}`),
      agentId,
      parentCallId,
      parentAgentId: threadId === rootId ? undefined : threadId,
    });
  }
}
