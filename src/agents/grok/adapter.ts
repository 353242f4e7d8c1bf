// Recordings of 1.0.41 and the guide that the program unpacks (10-hooks.md), read 2026-11-26; older names: https://docs.x.ai/build/features/hooks,
// read 2026-11-21

import type { PayloadFacts, Recognition } from "#core/model/agent.ts";
import type { Content } from "#core/model/content.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { executableOf } from "../shared/names/executables.ts";
import { skillOf } from "../shared/names/skill.ts";
import { adapterOf, type EventRow, type Members, type Payload } from "../shared/payload/adapter-of.ts";
import { FAMILY_FIELDS } from "../shared/payload/claude-like.ts";
import { contentOfEvents, firstOf } from "../shared/payload/content.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asArray, asCode, asCount, asObject, asString, asTimeMs, first } from "../shared/payload/json.ts";
import { type Marks, recogniseByMarks } from "../shared/payload/marks.ts";
import { absolutePath } from "../shared/payload/payload-event.ts";
import { isMachinePrompt, mcpServerOf } from "./names.ts";
import { resultOf } from "./tool-result.ts";

const NAME_IN = ["hook_event_name", "hookEventName"];
const SESSION_IN = ["sessionId", "session_id"];

const PROMPT: EventRow = {
  type: "prompt.submit",
  or: ["nothing"],
  read(p) {
    // A subagent's prompt is its task, not a prompt of the user
    if (agentTypeIn(p) !== undefined) return undefined;
    const [prompt, promptId] = [p["prompt"], promptIdIn(p)];
    const prompt_origin = isMachinePrompt(prompt, promptId) ? "machine" : "human";
    return { key: promptId, promptLength: asString(prompt)?.length, extras: { prompt_origin } };
  },
};

export const adapter = adapterOf({
  source: "grok",
  recognises,
  events: {
    SessionStart: {
      type: "session.start",
      or: ["nothing"],
      read(p) {
        if (agentTypeIn(p) !== undefined) return undefined;
        // A fork is loaded like a resumed session, and no hook distinguishes them
        const isContinued = CONTINUES.has(String(p["source"]));
        return {
          extras: { start_origin: asCode(p["source"]), continues: isContinued ? "same-session" : undefined },
        };
      },
    },
    UserPromptSubmit: PROMPT,
    // Cursor's name, in its hooks file
    beforeSubmitPrompt: { ...PROMPT, hook: "none" },
    PreToolUse: { type: "tool.start", read: callIn },
    PostToolUse: { type: "tool.end", read: (p) => endIn(p) },
    PostToolUseFailure: { type: "tool.end", read: (p) => endIn(p, "failed") },
    PermissionDenied: { type: "tool.end", read: (p) => endIn(p, "denied") },
    Stop: {
      type: "turn.end",
      or: ["subagent.end", "nothing"],
      read(p) {
        // Grok sends one more Stop after the session's end; it ends no turn
        if (p["reason"] === "shutdown") return undefined;
        if (agentTypeIn(p) !== undefined) return { type: "subagent.end" };
        return { extras: { background_count: runningIn(p["backgroundTasks"] ?? p["background_tasks"]) } };
      },
    },
    StopFailure: { type: "turn.error", read: errorIn },
    StopCancelled: { type: "turn.error", read: errorIn },
    SubagentStart: {
      type: "subagent.start",
      read(p, _, sessionId) {
        // A subagent has its own session id; only its start names the parent
        const reportedId = first(p, SESSION_IN);
        const childId = first(p, ["subagentId", "subagent_id"]);
        const isChild = childId !== undefined && reportedId !== childId;
        return {
          session: childId === undefined ? undefined : { id: childId },
          extras: {
            agent_id: childId ?? sessionId,
            parent_session_id: isChild ? reportedId : undefined,
            prompt_id: undefined,
            transcript_path: undefined,
          },
        };
      },
    },
    SubagentStop: { type: "subagent.end" },
    SubagentEnd: { type: "subagent.end", hook: "none" },
    PreCompact: {
      type: "compaction",
      hook: "none",
      or: ["nothing"],
      read: (p) =>
        agentTypeIn(p) === undefined ? { extras: { trigger: asCode(p["source"] ?? p["trigger"]) } } : undefined,
    },
    SessionEnd: {
      type: "session.end",
      or: ["subagent.end"],
      read(p) {
        // The parent's session continues
        if (agentTypeIn(p) !== undefined) return { type: "subagent.end" };
        const reason = p["reason"] === "error" ? "error" : "completed";
        return { reason, extras: { native_reason: asCode(p["reason"]) } };
      },
    },
  },
  notNeeded: `beforeShellExecution afterFileEdit PostToolBatch PostCompact Notification PermissionRequest Setup
    InstructionsLoaded QueryEnd`,
  fields: `hookEventName sessionId workspaceRoot workspace_roots promptId tool_call_id toolCallId toolInputTruncated toolResult
    toolResultTruncated toolResponse isBackgrounded subagentType subagentId description phase level backgroundTasks
    sessionCrons cancelledBy cancelTrigger reasonDetails ${FAMILY_FIELDS}`,
  nameIn: NAME_IN,
  // Also in snake case
  nameOf: (p, intake) => (first(p, NAME_IN) ?? intake.event)?.replaceAll("_", ""),
  inAnyCase: true,
  namesAsInTable: true,
  sessionIn: SESSION_IN,
  timeOf: (p) => asTimeMs(p["timestamp"]),
  // The time in nanoseconds is the same for every registration of the hook
  keyOf: (p) => asString(p["timestamp"]) ?? payloadDigest(p),
  extrasOf(p, intake, sessionId) {
    const agentType = agentTypeIn(p);
    return {
      prompt_id: agentType === undefined ? promptIdIn(p) : undefined,
      agent_id: agentType === undefined ? undefined : sessionId,
      agent_type: agentType,
      transcript_path: absolutePath(first(p, ["transcriptPath", "transcript_path"]), intake),
      permission_mode: asCode(p["permissionMode"] ?? p["permission_mode"]),
    };
  },
});

/** Content of a payload; see `Agent.toContent`. */
export function toContent(payload: unknown, { events }: PayloadFacts): readonly Content[] {
  const p = asObject(payload) ?? {};
  return contentOfEvents(events, {
    prompt: p["prompt"],
    arguments: firstOf(p, ["toolInput", "tool_input"]),
    result: shownResult(firstOf(p, ["toolResult", "tool_response", "toolResponse"])) ?? p["error"],
    answer: firstOf(p, ["lastAssistantMessage", "last_assistant_message"]),
  });
}

/** A result as the model reads it: a command's output is a list of bytes, and files have several forms. */
export function shownResult(result: unknown): unknown {
  const r = asObject(result);
  const file = asObject(r?.["FileContent"]);
  return (
    asString(r?.["output_for_prompt"]) ??
    asString(file?.["raw_output"]) ??
    asString(asObject(r?.["EditsApplied"])?.["tool_output_for_prompt"]) ??
    (r?.["type"] === "SubagentCompleted" ? asString(r["output"]) : undefined) ??
    (r?.["type"] === "Text" ? asString(r["text"]) : undefined) ??
    result
  );
}

// --- internal ---

/**
 * Certain if the payload has the event's name in both spellings, as the recorded program sends it. Older documentation has only
 * camel case, which is certain for hooks that are registered for Claude Code or Cursor: no other agent that runs those sends it
 * without a time.
 */
function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const recognition = recogniseByMarks(MARKS, payload, intake);
  const p = asObject(payload);
  if (recognition === "certain" || p === undefined) return recognition;
  if (asString(p["hookEventName"]) === undefined || asString(p["sessionId"]) === undefined) return recognition;
  if (p["timestamp"] !== undefined) return "possible";
  return intake.source === "cursor" || intake.source === "claude-code" ? "certain" : "likely";
}

const MARKS: Marks = { members: [["hookEventName", "hook_event_name"]], folder: /[/\\]\.grok[/\\]/ };

const CONTINUES: ReadonlySet<string> = new Set(["load", "resume"]);

/** Set in events of a subagent. */
function agentTypeIn(p: Payload): string | undefined {
  return first(p, ["subagentType", "subagent_type"]);
}

function promptIdIn(p: Payload): string | undefined {
  return first(p, ["promptId", "prompt_id"]);
}

function errorIn(p: Payload): Members {
  const error = asCode(p["error"]) ?? asCode(p["reason"]) ?? "_OTHER";
  return { extras: { error_type: p["cancelledBy"] === "user" ? "interrupted" : error } };
}

function callIn(p: Payload) {
  const name = first(p, ["toolName", "tool_name"]);
  const callId = first(p, ["toolUseId", "tool_use_id", "toolCallId", "tool_call_id"]);
  const time = asString(p["timestamp"]);
  const isNumbered = callId !== undefined && isSequenceNumber(callId);
  return {
    key: isNumbered ? `${callId}:${time ?? payloadDigest(p)}` : callId,
    tool: { name, callId },
    extras: {
      executable: executableOf(asObject(firstOf(p, ["toolInput", "tool_input"]))?.["command"]),
      skill: skillOf(name, firstOf(p, ["toolInput", "tool_input"])),
      mcp_server: mcpServerOf(name),
    },
  } satisfies Members;
}

function endIn(p: Payload, failure?: "failed" | "denied"): Members {
  const { key, tool, extras } = callIn(p);
  const result = resultOf(firstOf(p, ["toolResult", "tool_response", "toolResponse"]));
  return {
    key,
    tool: {
      ...tool,
      status: failure === undefined ? result.status : "error",
      durationMs: asCount(p["durationMs"] ?? p["duration_ms"]),
    },
    extras: {
      ...extras,
      denied: failure === "denied" ? true : undefined,
      exit_code: result.exitCode,
      error_type: result.errorType,
      spawned_agent_id: result.spawnedAgentId,
      lines_added: result.linesAdded,
      lines_removed: result.linesRemoved,
    },
  };
}

function runningIn(tasks: unknown): number | undefined {
  const running = asArray(tasks).filter((task) => asObject(task)?.["status"] === "running").length;
  return running === 0 ? undefined : running;
}
