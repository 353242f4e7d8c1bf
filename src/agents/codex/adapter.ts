// https://developers.openai.com/codex/hooks and recordings of 0.110.0 to 0.169.0, read 2026-11-21

import { posix } from "node:path";
import type { Recognition } from "#core/model/agent.ts";
import type { SessionEndReason } from "#core/model/envelope.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { executableOf } from "../shared/names/executables.ts";
import { CONTINUES } from "../shared/payload/claude-like.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { type Frame, type FramedMembers, type FramedTable, framedAdapter } from "../shared/payload/framed-adapter.ts";
import { arrivalKey, payloadDigest } from "../shared/payload/identity.ts";
import { asCode, asObject, asString, type Fields, ownOf } from "../shared/payload/json.ts";
import { eventIn } from "../shared/payload/known.ts";
import { isAbsolute, pathOf } from "./expand.ts";
import { outcomeOf, outputText } from "./outcome.ts";
import { failureOf } from "./requests.ts";
import { isInnerCall, mcpServerOf, modelToolName, shellCommandOf } from "./tools.ts";

const SOURCE = "codex";

const TURN_COMPLETE = "agent-turn-complete";

const EVENTS = {
  SessionStart: {
    type: "session.start",
    read({ p }) {
      const origin = asCode(p["source"]);
      return {
        key: origin === "startup" || origin === "fork" ? origin : undefined,
        model: asString(p["model"]),
        extras: { start_origin: origin, continues: ownOf(CONTINUES, origin) },
      };
    },
  },
  UserPromptSubmit: {
    type: "prompt.submit",
    read: ({ p, turnId }) => ({
      // A message that steers a running turn has that turn's id
      key: turnId === undefined ? undefined : `${turnId}:${payloadDigest(p)}`,
      promptLength: typeof p["prompt"] === "string" ? p["prompt"].length : undefined,
      extras: { prompt_origin: "human" },
    }),
  },
  PreModelRequest: { type: "model.start", hook: "none" },
  PostModelRequest: { type: "model.end", read: ({ p }) => ({ extras: failureOf(p) }) },
  PreToolUse: { type: "tool.start", or: ["notice"], read: callOf },
  PostToolUse: { type: "tool.end", or: ["notice"], read: endOf },
  PreCompact: { type: "compaction", read: ({ p }) => ({ extras: { trigger: asCode(p["trigger"]) } }) },
  SubagentStart: {
    type: "subagent.start",
    read: ({ agentId, turnId }) => ({ key: turnId === undefined ? undefined : `${agentId ?? ""}:${turnId}` }),
  },
  SubagentStop: {
    type: "subagent.end",
    read: ({ p, agentId, turnId }) => ({
      key: turnId === undefined ? undefined : `${agentId ?? ""}:${turnId}:${payloadDigest(p)}`,
    }),
  },
  Stop: {
    type: "turn.end",
    read({ p, native, key, turnId }) {
      // A stop hook of the user continued the turn: the same turn ends a second time
      const suffix = p["stop_hook_active"] === true ? `:${payloadDigest(p)}` : "";
      return turnEnd(native, turnId === undefined ? key : `${turnId}${suffix}`);
    },
  },
  Interrupt: {
    type: "turn.error",
    read: ({ turnId }) => ({ key: turnId, extras: { error_type: "interrupted" } }),
  },
  /** `notify`: one JSON argument after each successful turn, including turns of subagents. */
  [TURN_COMPLETE]: {
    type: "turn.end",
    hook: "none",
    read: ({ native, key, turnId }) => turnEnd(native, turnId ?? key),
  },
  SessionEnd: {
    type: "session.end",
    read({ p }) {
      const reason = asCode(p["reason"]) ?? "other";
      return { reason: ownOf(END_REASON, reason) ?? "completed", extras: { native_reason: reason } };
    },
  },
} as const satisfies FramedTable<Payload>;

/** Names of events that give something. */
export type NativeName = keyof typeof EVENTS;

export const adapter = framedAdapter({
  source: SOURCE,
  recognises,
  events: EVENTS,
  notNeeded: "PostCompact Notification PermissionRequest",
  fields: `hook_event_name session_id turn_id transcript_path cwd model permission_mode source reason prompt agent_id
    agent_type agent_transcript_path tool_name tool_input tool_use_id tool_response tool_output trigger custom_instructions
    status error token_usage kind request_id attempt_number response_id last_assistant_message stop_hook_active message
    type thread-id input-messages client`,
  nameOf: eventIn("hook_event_name", "type"),
  // Its hooks are run by a server in the background
  namesProcess: false,
  frameOf,
});

// --- internal ---

const END_REASON: Readonly<Record<string, SessionEndReason>> = {
  exit: "user_exit",
  logout: "user_exit",
  prompt_input_exit: "user_exit",
  error: "error",
  timeout: "timeout",
  other: "completed",
  clear: "completed",
  compact: "completed",
};

/** Its key is the arrival: payloads of two runs of one session are byte-identical; only the time of arrival differs. */
interface Payload extends Frame {
  readonly p: Fields;
  readonly agentId?: string | undefined;
  readonly turnId: string | undefined;
  readonly transcriptPath?: string | undefined;
}

/** Certain by the path of the session file or the form of a notification; other agents' payloads have the same shape. */
function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const p = asObject(payload);
  if (p === undefined) return "no";
  if (p["type"] === TURN_COMPLETE && asString(p["thread-id"]) !== undefined) return "certain";
  const native = asString(p["hook_event_name"]);
  if (native === undefined || !/^[A-Z]/.test(native)) return "no";
  if (asString(p["session_id"]) === undefined || p["cursor_version"] !== undefined) return "no";
  const path = asString(p["transcript_path"]) ?? "";
  if (/[/\\]\.codex[/\\]|^\$\{?CODEX_HOME\}?[/\\]/.test(path)) return "certain";
  if (/[/\\]rollout-[0-9T-]{19}-[0-9a-f-]{36}\.jsonl$/.test(path)) return "certain";
  const home = intake.env["CODEX_HOME"];
  if (home !== undefined && home !== "" && path.startsWith(home)) return "certain";
  // A session without a file. Cursor and VS Code write null too, with these members
  const isOther = p["conversation_id"] !== undefined || p["timestamp"] !== undefined;
  const isOwn = asString(p["model"]) !== undefined || native === "SessionEnd";
  if (p["transcript_path"] === null && isOwn && !isOther) return "certain";
  if (path !== "") return "possible";
  // No other agent has these two events; the session has no file
  return native === "PreModelRequest" || native === "PostModelRequest" ? "likely" : "possible";
}

function frameOf(payload: unknown, intake: IntakeFacts): Payload | undefined {
  const p = asObject(payload);
  if (p === undefined) return undefined;
  const basics = { p, cwd: asString(p["cwd"]), key: arrivalKey(intake) };
  if (p["type"] === TURN_COMPLETE && p["hook_event_name"] === undefined) {
    const [threadId, turnId] = [asString(p["thread-id"]), asString(p["turn-id"])];
    if (threadId === undefined) return undefined;
    const extras = { prompt_id: turnId, transcript_path: sessionsHint(threadId, intake) };
    return { ...basics, native: TURN_COMPLETE, session: { id: threadId }, turnId, extras };
  }
  const [native, sessionId] = [asString(p["hook_event_name"]), asString(p["session_id"])];
  if (native === undefined || native === TURN_COMPLETE || sessionId === undefined) return undefined;
  const [agentId, turnId] = [asString(p["agent_id"]), asString(p["turn_id"])];
  const transcriptPath = pathOf(p["transcript_path"], intake);
  return {
    ...basics,
    native,
    session: { id: sessionId },
    agentId,
    turnId,
    transcriptPath,
    extras: {
      // A subagent has separate turns and a separate file
      prompt_id: agentId === undefined ? turnId : undefined,
      transcript_path: agentId === undefined ? transcriptPath : undefined,
      agent_id: agentId,
      agent_type: asString(p["agent_type"]),
      permission_mode: asCode(p["permission_mode"]),
    },
  };
}

/** One id for the events of hook and notification, which report the end of the same turn. */
const turnEnd = (native: string, key: string): FramedMembers => ({
  native: "turn end",
  key,
  extras: { native_event: native },
});

/** A notification has no path. If the agent's home was moved, this builds a path in that home from the thread id. */
function sessionsHint(threadId: string, { env }: IntakeFacts): string | undefined {
  const home = env["CODEX_HOME"];
  if (home === undefined || !isAbsolute(home) || !/^[\w-]{1,64}$/.test(threadId)) return undefined;
  return posix.join(home, "sessions", `rollout-${threadId}.jsonl`);
}

function callOf({ p, transcriptPath }: Payload): FramedMembers {
  const callId = asString(p["tool_use_id"]);
  const hookToolName = asString(p["tool_name"]);
  const isCounted = callId !== undefined && isSequenceNumber(callId);
  const key = isCounted ? `${callId}:${payloadDigest(p)}` : callId;
  // A script of the model made this call. The session file has the script's call, which includes it.
  if (isInnerCall(callId) && transcriptPath !== undefined) return { type: "notice", key };
  return {
    key,
    tool: { name: callId === undefined ? hookToolName : modelToolName(hookToolName), callId },
    extras: {
      executable: executableOf(shellCommandOf(asObject(p["tool_input"]))),
      mcp_server: mcpServerOf(hookToolName),
      input_digest: callId === undefined ? inputDigest(p["tool_input"]) : undefined,
      given_id: isCounted ? callId : undefined,
    },
  };
}

function endOf(frame: Payload): FramedMembers {
  const call = callOf(frame);
  const { tool } = call;
  if (tool === undefined) return call;
  const { p, transcriptPath } = frame;
  const { status, exitCode } = responseOutcome(asString(p["tool_name"]), p["tool_response"] ?? p["tool_output"]);
  const extras = { ...call.extras, exit_code: exitCode };
  if (status !== "success") return { ...call, tool: { ...tool, status: "error" }, extras };
  // The hook has no exit code; if there is a session file, its outcome counts
  if (transcriptPath !== undefined && tool.callId !== undefined) return { ...call, extras };
  return { ...call, tool: { ...tool, status: "success" }, extras: { ...extras, status_origin: "assumed" } };
}

/** Only patches and MCP results have a status from Codex; the response of any other tool is the tool's own text. */
function responseOutcome(
  tool: string | undefined,
  response: unknown,
): { readonly status: "success" | "error"; readonly exitCode?: number } {
  const result = asObject(response);
  if (result !== undefined) return { status: result["isError"] === true ? "error" : "success" };
  const { status, exitCode } = tool === "apply_patch" ? outcomeOf(outputText(response)) : {};
  const isHeaded = exitCode !== undefined;
  return isHeaded ? { status: status === "success" ? "success" : "error", exitCode } : { status: "success" };
}
