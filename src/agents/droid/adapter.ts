// Recordings of 0.225.2, read 2026-11-26; https://docs.factory.ai/reference/hooks-reference.md, read 2026-11-21

import type { Recognition } from "#core/model/agent.ts";
import type { Event, Extras, NativeEventType } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { defined } from "#kit/defined.ts";
import { executableOf } from "../shared/names/executables.ts";
import { absolutePath, first, typeOf } from "../shared/payload/claude-like.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asCode, asObject, asString } from "../shared/payload/json.ts";
import { type Marks, recogniseByMarks } from "../shared/payload/marks.ts";
import { outcomeOf } from "../shared/payload/outcome.ts";
import { eventOf, sessionOf } from "../shared/payload/payload-event.ts";
import { exitCodeIn, isTask, mcpServerOf, spawnedIn } from "./texts.ts";

export const SOURCE = "droid";

/** SubagentStop is not needed: it names no subagent, and the subagent's session sends its own end. */
export const EVENTS = {
  SessionStart: "session.start",
  SessionEnd: "session.end",
  UserPromptSubmit: "prompt.submit",
  PreToolUse: "tool.start",
  PostToolUse: "tool.end",
  Stop: "turn.end",
  PreCompact: "compaction",
} as const satisfies Readonly<Record<string, NativeEventType>>;

/** Certain by the transcripts' folder. In some builds the event is `hookEventName`. */
export const recognises = (payload: unknown, intake: IntakeFacts): Recognition =>
  recogniseByMarks(MARKS, payload, intake);

const MARKS: Marks = { folder: /[/\\]\.factory[/\\]/ };

/** One payload → its event; none for payloads that a trace does not need. */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = asObject(payload);
  const native = p === undefined ? undefined : (first(p, ["hook_event_name", "hookEventName"]) ?? intake.event);
  const known = native === undefined ? undefined : typeOf(EVENTS, native);
  if (p === undefined || native === undefined || known === undefined) return [];
  // A subagent is a separate process and session; its start names the session that called it
  const callerId = known === "session.start" ? asString(p["calling_session_id"]) : undefined;
  const type = callerId === undefined ? known : "subagent.start";
  const isResumed = p["source"] === "resume" && asString(p["previous_session_id"]) === undefined;
  const cwd = asString(p["cwd"]);
  const session = sessionOf(SOURCE, intake, { payload: first(p, ["session_id", "sessionId"]), cwd });
  const isTool = type === "tool.start" || type === "tool.end";
  const tool = isTool ? toolIn(p, type) : undefined;
  const prompt = type === "prompt.submit" ? p["prompt"] : undefined;
  return [
    eventOf(
      {
        source: SOURCE,
        type,
        native,
        session,
        cwd,
        // Two calls or compactions can have equal payloads, without a time or an id; payloads of other events differ
        key: isTool || type === "compaction" ? `${intake.timeMs}:${payloadDigest(payload)}` : payloadDigest(payload),
        promptLength: typeof prompt === "string" && prompt !== "" ? prompt.length : undefined,
        reason: "completed",
        ...(tool !== undefined && { tool: { name: tool.name, ...(tool.status && { status: tool.status }) } }),
        extras: defined<Extras>({
          ...tool?.extras,
          // At a turn's end, this member is the answer's id
          prompt_id: type === "prompt.submit" ? asString(p["message_id"]) : undefined,
          prompt_origin: isTask(prompt) ? "machine" : undefined,
          agent_id: callerId === undefined ? undefined : session.id,
          parent_session_id: callerId === session.id ? undefined : callerId,
          transcript_path: absolutePath(first(p, ["transcript_path", "transcriptPath"]), intake),
          permission_mode: asCode(p["permission_mode"]),
          start_origin: known === "session.start" ? asCode(p["source"]) : undefined,
          // A fork starts with `resume` too. The reader skips its copies, so it is like a new session here
          continues: isResumed && type === "session.start" ? "same-session" : undefined,
          native_reason: type === "session.end" ? asCode(p["reason"]) : undefined,
          trigger: type === "compaction" ? asCode(p["trigger"]) : undefined,
        }),
      },
      intake,
    ),
  ];
}

// --- internal ---

type Fields = Readonly<Record<string, unknown>>;

/** A call without its id, which only the session file has. Only successful calls have an end. */
function toolIn(p: Fields, type: "tool.start" | "tool.end") {
  const name = first(p, ["tool_name", "toolName"]);
  const input = p["tool_input"] ?? p["toolInput"];
  const result = p["tool_response"] ?? p["toolResponse"];
  const exitCode = type === "tool.end" ? exitCodeIn(result) : undefined;
  const outcome = type === "tool.end" ? outcomeOf(asString(result) === undefined ? result : undefined) : undefined;
  return {
    name,
    status: exitCode !== undefined && exitCode !== 0 ? ("error" as const) : outcome?.status,
    extras: {
      input_digest: inputDigest(input),
      executable: executableOf(asObject(input)?.["command"]),
      mcp_server: mcpServerOf(name),
      exit_code: exitCode ?? outcome?.exitCode,
      status_origin: type === "tool.end" ? ("native" as const) : undefined,
      spawned_agent_id: type === "tool.end" && name === "Task" ? spawnedIn(result) : undefined,
    },
  };
}
