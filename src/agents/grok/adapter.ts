// Recordings of 1.0.41 and the guide that the program unpacks (10-hooks.md), read 2026-11-26; older names: https://docs.x.ai/build/features/hooks

import type { PayloadFacts, Recognition } from "#core/model/agent.ts";
import type { Content } from "#core/model/content.ts";
import type { Event, Extras, NativeEventType } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { defined } from "#kit/defined.ts";
import { executableOf } from "../shared/names/executables.ts";
import { absolutePath, first } from "../shared/payload/claude-like.ts";
import { contentOfEvents, firstOf } from "../shared/payload/content.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asArray, asCode, asCount, asObject, asString, asTimeMs } from "../shared/payload/json.ts";
import { type Marks, recogniseByMarks } from "../shared/payload/marks.ts";
import { eventOf, type PayloadTool, sessionOf } from "../shared/payload/payload-event.ts";
import { isMachinePrompt, mcpServerOf } from "./names.ts";
import { resultOf } from "./tool-result.ts";

export const SOURCE = "grok";

/**
 * Certain if the payload has the event's name in both spellings, as the recorded program sends it. Older documentation has only
 * camel case, which is certain for hooks that are registered for Claude Code or Cursor: no other agent that runs those sends it
 * without a time.
 */
export function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const recognition = recogniseByMarks(MARKS, payload, intake);
  const p = asObject(payload);
  if (recognition === "certain" || p === undefined) return recognition;
  if (asString(p["hookEventName"]) === undefined || asString(p["sessionId"]) === undefined) return recognition;
  if (p["timestamp"] !== undefined) return "possible";
  return intake.source === "cursor" || intake.source === "claude-code" ? "certain" : "likely";
}

const MARKS: Marks = { members: [["hookEventName", "hook_event_name"]], folder: /[/\\]\.grok[/\\]/ };

/** One payload → its event; none for payloads that a trace does not need. */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = asObject(payload);
  const event = p === undefined ? undefined : eventIn(p, intake);
  if (p === undefined || event === undefined) return [];
  const { native } = event;
  const agentType = first(p, ["subagentType", "subagent_type"]);
  const isStart = event.type === "subagent.start";
  const type = typeIn(event.type, p, agentType !== undefined && !isStart);
  if (type === undefined) return [];

  const cwd = asString(p["cwd"]);
  const reportedId = first(p, ["sessionId", "session_id"]);
  const childId = isStart ? first(p, ["subagentId", "subagent_id"]) : undefined;
  // A subagent has its own session id; only its start names the parent
  const session = sessionOf(SOURCE, intake, { payload: childId ?? reportedId, cwd });
  const promptId = first(p, ["promptId", "prompt_id"]);
  const isOfSubagent = isStart || agentType !== undefined;
  const isTool = type === "tool.start" || type === "tool.end";
  const tool = isTool ? toolIn(p, type, native) : undefined;
  const prompt = p["prompt"];
  const isInterrupted = p["cancelledBy"] === "user";
  return [
    eventOf(
      {
        source: SOURCE,
        type,
        native,
        session,
        cwd,
        timeMs: asTimeMs(p["timestamp"]),
        key: keyOf(p, payload, tool?.callId, type === "prompt.submit" ? promptId : undefined),
        promptLength: typeof prompt === "string" && prompt !== "" ? prompt.length : undefined,
        reason: p["reason"] === "error" ? "error" : "completed",
        ...(tool !== undefined && { tool }),
        extras: defined<Extras>({
          ...(isTool && tool?.extras),
          prompt_id: isOfSubagent ? undefined : promptId,
          prompt_origin:
            type === "prompt.submit" ? (isMachinePrompt(prompt, promptId) ? "machine" : "human") : undefined,
          agent_id: isOfSubagent ? session.id : undefined,
          agent_type: agentType,
          parent_session_id: isStart && childId !== undefined && reportedId !== childId ? reportedId : undefined,
          transcript_path: isStart ? undefined : absolutePath(pathIn(p), intake),
          permission_mode: asCode(p["permissionMode"] ?? p["permission_mode"]),
          start_origin: type === "session.start" ? asCode(p["source"]) : undefined,
          // A fork is loaded like a resumed session, and no hook distinguishes them
          continues: type === "session.start" && CONTINUES.has(String(p["source"])) ? "same-session" : undefined,
          native_reason: type === "session.end" ? asCode(p["reason"]) : undefined,
          error_type:
            type === "turn.error"
              ? isInterrupted
                ? "interrupted"
                : (asCode(p["error"]) ?? asCode(p["reason"]) ?? "_OTHER")
              : undefined,
          trigger: type === "compaction" ? asCode(p["source"] ?? p["trigger"]) : undefined,
          background_count: type === "turn.end" ? runningIn(p["backgroundTasks"] ?? p["background_tasks"]) : undefined,
        }),
      },
      intake,
    ),
  ];
}

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

/** The event of a payload under its usual name; names in other spellings and Cursor's names included. */
export function eventIn(
  p: Fields,
  intake: IntakeFacts,
): { readonly native: string; readonly type: Mapped } | undefined {
  const name = asString(p["hook_event_name"]) ?? asString(p["hookEventName"]) ?? intake.event;
  return name === undefined ? undefined : EVENTS.get(name.replaceAll("_", "").toLowerCase());
}

/** The event types that the card declares. */
export const emitted = (): readonly NativeEventType[] => [...new Set([...EVENTS.values()].map(({ type }) => type))];

// --- internal ---

type Fields = Readonly<Record<string, unknown>>;
type Mapped = Exclude<NativeEventType, "model.start" | "model.end" | "tool.batch" | "permission" | "notice">;

const EVENTS: ReadonlyMap<string, { readonly native: string; readonly type: Mapped }> = new Map(
  (
    [
      ["SessionStart", "session.start"],
      ["SessionEnd", "session.end"],
      ["UserPromptSubmit", "prompt.submit"],
      // Cursor's name, in its hooks file
      ["beforeSubmitPrompt", "prompt.submit"],
      ["PreToolUse", "tool.start"],
      ["PostToolUse", "tool.end"],
      ["PostToolUseFailure", "tool.end"],
      ["PermissionDenied", "tool.end"],
      ["Stop", "turn.end"],
      ["StopFailure", "turn.error"],
      ["StopCancelled", "turn.error"],
      ["SubagentStart", "subagent.start"],
      ["SubagentStop", "subagent.end"],
      ["SubagentEnd", "subagent.end"],
      ["PreCompact", "compaction"],
    ] as const
  ).map(([native, type]) => [native.toLowerCase(), { native, type }]),
);

const CONTINUES: ReadonlySet<string> = new Set(["load", "resume"]);

const pathIn = (p: Fields): string | undefined => first(p, ["transcriptPath", "transcript_path"]);

/** The type of an event, which can differ if a subagent sent it; `undefined` for events that a trace does not need. */
function typeIn(type: Mapped, p: Fields, isOfSubagent: boolean): Mapped | undefined {
  // Grok sends one more Stop after the session's end; it ends no turn
  if (type === "turn.end" && p["reason"] === "shutdown") return undefined;
  if (!isOfSubagent) return type;
  switch (type) {
    // A subagent's prompt is its task, not a prompt of the user
    case "prompt.submit":
    case "session.start":
    case "compaction":
      return undefined;
    // The parent's session continues
    case "session.end":
    case "turn.end":
      return "subagent.end";
    default:
      return type;
  }
}

/** The agent's id of the event; otherwise its time in nanoseconds, which is the same for every registration of the hook. */
function keyOf(p: Fields, payload: unknown, callId: string | undefined, promptId: string | undefined): string {
  const time = asString(p["timestamp"]);
  if (callId !== undefined) {
    return isSequenceNumber(callId) ? `${callId}:${time ?? payloadDigest(payload)}` : callId;
  }
  return promptId ?? time ?? payloadDigest(payload);
}

interface Tool extends PayloadTool {
  readonly extras: Extras;
}

function toolIn(p: Fields, type: "tool.start" | "tool.end", native: string): Tool {
  const name = first(p, ["toolName", "tool_name"]);
  const input = asObject(firstOf(p, ["toolInput", "tool_input"]));
  const isDenied = native === "PermissionDenied";
  const result =
    type === "tool.end" ? resultOf(firstOf(p, ["toolResult", "tool_response", "toolResponse"])) : undefined;
  const isFailed = isDenied || native === "PostToolUseFailure";
  return {
    name,
    callId: first(p, ["toolUseId", "tool_use_id", "toolCallId", "tool_call_id"]),
    ...(result !== undefined && { status: isFailed ? "error" : result.status }),
    durationMs: type === "tool.end" ? asCount(p["durationMs"] ?? p["duration_ms"]) : undefined,
    extras: defined<Extras>({
      executable: executableOf(input?.["command"]),
      mcp_server: mcpServerOf(name),
      denied: isDenied ? true : undefined,
      exit_code: result?.exitCode,
      error_type: result?.errorType,
      spawned_agent_id: result?.spawnedAgentId,
      lines_added: result?.linesAdded,
      lines_removed: result?.linesRemoved,
    } as Extras),
  };
}

function runningIn(tasks: unknown): number | undefined {
  const running = asArray(tasks).filter((task) => asObject(task)?.["status"] === "running").length;
  return running === 0 ? undefined : running;
}
