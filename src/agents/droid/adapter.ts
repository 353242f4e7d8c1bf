// Recordings of 0.225.2, read 2026-11-26; https://docs.factory.ai/reference/hooks-reference.md, read 2026-11-21

import { executableOf } from "../shared/names/executables.ts";
import { skillOf } from "../shared/names/skill.ts";
import { adapterOf, type Members, type Payload } from "../shared/payload/adapter-of.ts";
import { FAMILY_FIELDS, FAMILY_NOT_NEEDED } from "../shared/payload/claude-like.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { momentKey, payloadDigest } from "../shared/payload/identity.ts";
import { asCode, asObject, asString, first } from "../shared/payload/json.ts";
import { outcomeOf } from "../shared/payload/outcome.ts";
import { absolutePath } from "../shared/payload/payload-event.ts";
import { exitCodeIn, isTask, mcpServerOf, spawnedIn } from "./texts.ts";

export const adapter = adapterOf({
  source: "droid",
  // Certain by the transcripts' folder
  recognises: { folder: /[/\\]\.factory[/\\]/ },
  events: {
    SessionStart: {
      type: "session.start",
      or: ["subagent.start"],
      read(p, _, sessionId) {
        const origin = asCode(p["source"]);
        // A subagent is a separate process and session; its start names the session that called it
        const callerId = asString(p["calling_session_id"]);
        if (callerId !== undefined) {
          const parentId = callerId === sessionId ? undefined : callerId;
          const extras = { agent_id: sessionId, parent_session_id: parentId, start_origin: origin };
          return { type: "subagent.start", extras };
        }
        // A fork starts with `resume` too. The reader skips its copies, so it is like a new session here
        const isResumed = p["source"] === "resume" && asString(p["previous_session_id"]) === undefined;
        return { extras: { start_origin: origin, continues: isResumed ? "same-session" : undefined } };
      },
    },
    UserPromptSubmit: {
      type: "prompt.submit",
      read(p) {
        const prompt = p["prompt"];
        return {
          promptLength: asString(prompt)?.length,
          // At a turn's end, this member is the answer's id
          extras: { prompt_id: asString(p["message_id"]), prompt_origin: isTask(prompt) ? "machine" : undefined },
        };
      },
    },
    // Two calls or compactions can have equal payloads, without a time or an id; payloads of other events differ
    PreToolUse: {
      type: "tool.start",
      matcher: "*",
      read: (p, intake) => ({ ...callIn(p), key: momentKey(p, intake) }),
    },
    PostToolUse: { type: "tool.end", matcher: "*", read: (p, intake) => ({ ...endIn(p), key: momentKey(p, intake) }) },
    PreCompact: {
      type: "compaction",
      read: (p, intake) => ({ key: momentKey(p, intake), extras: { trigger: asCode(p["trigger"]) } }),
    },
    Stop: { type: "turn.end" },
    SessionEnd: {
      type: "session.end",
      read: (p) => ({ reason: "completed", extras: { native_reason: asCode(p["reason"]) } }),
    },
  },
  // SubagentStop is not needed: it names no subagent, and the subagent's session sends its own end
  notNeeded: `SubagentStop SubagentStart PostToolUseFailure StopFailure ${FAMILY_NOT_NEEDED}`,
  fields: `CLAUDE_ENV_FILE calling_session_id previous_session_id message_id has_images elapsed_time tool_execution_count
    session_duration_ms message_count task_name task_result ${FAMILY_FIELDS}`,
  // In some builds the event is `hookEventName`
  nameIn: ["hook_event_name", "hookEventName"],
  inAnyCase: true,
  sessionIn: ["session_id", "sessionId"],
  keyOf: payloadDigest,
  extrasOf: (p, intake) => ({
    transcript_path: absolutePath(first(p, ["transcript_path", "transcriptPath"]), intake),
    permission_mode: asCode(p["permission_mode"]),
  }),
});

// --- internal ---

/** A call without its id, which only the session file has. */
function callIn(p: Payload) {
  const name = first(p, ["tool_name", "toolName"]);
  const input = p["tool_input"] ?? p["toolInput"];
  return {
    tool: { name },
    extras: {
      input_digest: inputDigest(input),
      executable: executableOf(asObject(input)?.["command"]),
      skill: skillOf(name, input),
      mcp_server: mcpServerOf(name),
    },
  } satisfies Members;
}

/** Only successful calls have an end. */
function endIn(p: Payload): Members {
  const { tool, extras } = callIn(p);
  const result = p["tool_response"] ?? p["toolResponse"];
  const exitCode = exitCodeIn(result);
  const outcome = outcomeOf(asString(result) === undefined ? result : undefined);
  return {
    tool: { ...tool, status: exitCode !== undefined && exitCode !== 0 ? "error" : outcome.status },
    extras: {
      ...extras,
      exit_code: exitCode ?? outcome.exitCode,
      status_origin: "native",
      spawned_agent_id: tool.name === "Task" ? spawnedIn(result) : undefined,
    },
  };
}
