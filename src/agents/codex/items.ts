import { defined } from "../../model/defined.ts";
import type { EntryOf, ToolStatus, TranscriptEntry } from "../../model/transcript.ts";
import { asArray, asCount, asObject, asString, ownOf } from "../shared/payload/json.ts";
import { openCall } from "./call-ids.ts";
import { ofExit } from "./outcome.ts";
import { at, callKey, type Here, type Line } from "./state.ts";
import { isInnerCall } from "./tools.ts";

/**
 * What the program itself says of a tool call it carried out: exit code, duration, changed lines. Only for calls of the
 * model's that have no output yet; calls made by a script, and commands that end long after their call, tell nothing.
 */
export function itemEntries(here: Here): readonly TranscriptEntry[] {
  const item = asObject(here.p["item"]) ?? here.p;
  switch (item["type"]) {
    case "CommandExecution":
    case "exec_command_end":
      return result(here, item, { ...commandOutcome(item), durationMs: durationOf(item["duration"]) });
    case "FileChange":
    case "patch_apply_end":
      return result(here, item, { ...statusOf(item), ...changedLines(item["changes"]) });
    case "McpToolCall":
    case "mcp_tool_call_end":
      return result(here, item, { ...mcpOutcome(item), durationMs: durationOf(item["duration"]) });
    case "SubAgentActivity":
      return item["kind"] === "started" ? spawned(here, item, [item["agent_thread_id"]]) : [];
    case "CollabAgentToolCall":
      return /^spawn/i.test(String(item["tool"])) ? spawned(here, item, asArray(item["receiver_thread_ids"])) : [];
    case "collab_agent_spawn_end":
      return spawned(here, item, [item["new_thread_id"]]);
    default:
      return [];
  }
}

// --- internal ---

type Outcome = Partial<
  Pick<EntryOf<"tool_result">, "status" | "exitCode" | "durationMs" | "linesAdded" | "linesRemoved">
>;

function result(here: Here, item: Line, { status, ...rest }: Loose): readonly TranscriptEntry[] {
  const callId = openCall(here.state, asString(item["id"]) ?? asString(item["call_id"]));
  if (callId === undefined || status === undefined) return [];
  return [
    defined<EntryOf<"tool_result">>({
      kind: "tool_result",
      ...at(here, callKey("result", here, callId)),
      callId,
      status,
      ...rest,
    } as EntryOf<"tool_result">),
  ];
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
  const byCode = ofExit(exitCode);
  return { status: status ?? byCode.status, exitCode: byCode.exitCode };
}

function mcpOutcome(item: Line): Loose {
  const told = asObject(item["result"]);
  const isError = (asObject(told?.["Ok"]) ?? told)?.["isError"];
  if (isError === true || told?.["Err"] !== undefined) return { status: "error" };
  const { status } = statusOf(item);
  return { status: status ?? (told === undefined ? undefined : "success") };
}

function durationOf(value: unknown): number | undefined {
  const duration = asObject(value);
  const secs = asCount(duration?.["secs"]);
  return secs === undefined ? undefined : secs * 1000 + (asCount(duration?.["nanos"]) ?? 0) / 1e6;
}

function changedLines(changes: unknown): Pick<Loose, "linesAdded" | "linesRemoved"> {
  const files = Object.values(asObject(changes) ?? {}).map((change) => asObject(change) ?? {});
  if (files.length === 0) return {};
  let [linesAdded, linesRemoved] = [0, 0];
  for (const file of files) {
    const content = typeof file["content"] === "string" ? lineCount(file["content"]) : 0;
    if (file["type"] === "add") linesAdded += content;
    else if (file["type"] === "delete") linesRemoved += content;
    for (const line of hunkLines(asString(file["unified_diff"]) ?? "")) {
      if (line.startsWith("+")) linesAdded++;
      else if (line.startsWith("-")) linesRemoved++;
    }
  }
  return { linesAdded, linesRemoved };
}

/** What comes before the first hunk names files (`--- a/x`); inside one, a line that looks so was a comment. */
function hunkLines(diff: string): readonly string[] {
  const lines = diff.split("\n");
  return lines.slice(
    Math.max(
      0,
      lines.findIndex((line) => line.startsWith("@@")),
    ),
  );
}

function lineCount(text: string): number {
  if (text === "") return 0;
  const breaks = text.split("\n").length - 1;
  return text.endsWith("\n") ? breaks : breaks + 1;
}

/** Told in the parent's file. A script that starts a helper is itself the call, the last one still at work. */
function spawned(here: Here, item: Line, threadIds: readonly unknown[]): readonly TranscriptEntry[] {
  const told = asString(item["id"]) ?? asString(item["call_id"]);
  const parentCallId = isInnerCall(told) ? here.state.open?.at(-1) : (openCall(here.state, told) ?? told);
  const { threadId, rootId } = here.state;
  return threadIds.flatMap((value): TranscriptEntry[] => {
    const agentId = asString(value);
    if (agentId === undefined) return [];
    return [
      defined<EntryOf<"subagent">>({
        kind: "subagent",
        ...at(here, `subagent:${agentId}`),
        agentId,
        parentCallId,
        parentAgentId: threadId === rootId ? undefined : threadId,
      } as EntryOf<"subagent">),
    ];
  });
}
