// https://developers.openai.com/codex/hooks and recordings of 0.110.0 to 0.169.0, read 2026-11-21

import { posix } from "node:path";
import type { Recognition } from "#core/model/agent.ts";
import type { SessionEndReason } from "#core/model/envelope.ts";
import { OPENHOOK_VERSION } from "#core/model/envelope-types.ts";
import type { Event, Extras } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { defined } from "#kit/defined.ts";
import { executableOf } from "../shared/names/executables.ts";
import { arrivalKey } from "../shared/payload/derived-ids.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { eventId, payloadDigest } from "../shared/payload/identity.ts";
import { asCode, asObject, asString, ownOf } from "../shared/payload/json.ts";
import { isAbsolute, pathOf } from "./expand.ts";
import { outcomeOf, outputText } from "./outcome.ts";
import { failureOf } from "./requests.ts";
import { isInnerCall, mcpServerOf, modelToolName, shellCommandOf } from "./tools.ts";

export const SOURCE = "codex";

/** Certain by the path of the session file or the form of a notification; other agents' payloads have the same shape. */
export function recognises(payload: unknown, intake: IntakeFacts): Recognition {
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

/** Events of a payload; none for payloads that are unknown or not needed for a trace. */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = asObject(payload);
  if (p === undefined) return [];
  if (p["type"] === TURN_COMPLETE && p["hook_event_name"] === undefined) return notificationEvents(p, intake);
  const native = asString(p["hook_event_name"]);
  const sessionId = asString(p["session_id"]);
  if (native === undefined || sessionId === undefined) return [];
  const members = {
    native,
    sessionId,
    agentId: asString(p["agent_id"]),
    turnId: asString(p["turn_id"]),
    transcriptPath: pathOf(p["transcript_path"], intake),
  };
  return hookEvents({ p, ...members, ...eventBasics(p, intake, members), arrival: arrivalKey(intake) });
}

// --- internal ---

const TURN_COMPLETE = "agent-turn-complete";

const CONTINUES: Readonly<Record<string, NonNullable<Extras["continues"]>>> = {
  resume: "same-session",
  continue: "same-session",
  checkpoint: "same-session",
  fork: "fork",
  compact: "compaction",
};

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

type Payload = Readonly<Record<string, unknown>>;

/** One id for the events of hook and notification, which report the end of the same turn. */
const turnEndId = (sessionId: string, turnKey: string): string => eventId(SOURCE, sessionId, "turn end", turnKey);

/** The members that most events need. */
interface HookMembers {
  readonly native: string;
  readonly sessionId: string;
  readonly agentId: string | undefined;
  readonly turnId: string | undefined;
  readonly transcriptPath: string | undefined;
}

interface Hook extends HookMembers, ReturnType<typeof eventBasics> {
  readonly p: Payload;
  /** Payloads of two runs of one session are byte-identical; only the time of arrival differs. */
  readonly arrival: string;
}

function hookEvents(hook: Hook): readonly Event[] {
  const { p, native, sessionId, agentId, turnId, arrival, signal, envelope } = hook;
  switch (native) {
    case "SessionStart":
      return [sessionStart(hook)];
    case "SessionEnd":
      return [sessionEnd(hook)];
    case "UserPromptSubmit":
      return [
        {
          type: "prompt.submit",
          // A message that steers a running turn has that turn's id
          ...envelope(turnId === undefined ? arrival : `${turnId}:${payloadDigest(p)}`, { prompt_origin: "human" }),
          data: typeof p["prompt"] === "string" ? { prompt_length: p["prompt"].length } : {},
        },
      ];
    case "PreToolUse":
    case "PostToolUse":
      return toolEvents(hook);
    case "PreModelRequest":
      return [{ type: "model.start", ...signal(arrival) }];
    case "PostModelRequest":
      return [{ type: "model.end", ...signal(arrival, failureOf(p)) }];
    case "Stop": {
      // A stop hook of the user continued the turn: the same turn ends a second time
      const suffix = p["stop_hook_active"] === true ? `:${payloadDigest(p)}` : "";
      const key = turnId === undefined ? arrival : `${turnId}${suffix}`;
      return [{ type: "turn.end", ...signal(key), id: turnEndId(sessionId, key) }];
    }
    case "Interrupt":
      return [{ type: "turn.error", ...signal(turnId ?? arrival, { error_type: "interrupted" }) }];
    case "SubagentStart":
      return [{ type: "subagent.start", ...signal(turnId === undefined ? arrival : `${agentId ?? ""}:${turnId}`) }];
    case "SubagentStop": {
      const key = turnId === undefined ? arrival : `${agentId ?? ""}:${turnId}:${payloadDigest(p)}`;
      return [{ type: "subagent.end", ...signal(key) }];
    }
    case "PreCompact":
      return [{ type: "compaction", ...signal(arrival, defined<Extras>({ trigger: asCode(p["trigger"]) })) }];
    default:
      return [];
  }
}

/** The members that all events of a hook share, for the key that distinguishes them. */
function eventBasics(
  p: Payload,
  intake: IntakeFacts,
  { native, sessionId, agentId, turnId, transcriptPath }: HookMembers,
) {
  const cwd = asString(p["cwd"]) ?? intake.cwd;
  const shared = defined<Extras>({
    native_event: native,
    // A subagent has separate turns and a separate file
    prompt_id: agentId === undefined ? turnId : undefined,
    transcript_path: agentId === undefined ? transcriptPath : undefined,
    agent_id: agentId,
    agent_type: asString(p["agent_type"]),
    permission_mode: asCode(p["permission_mode"]),
    payload_bytes: intake.payloadBytes,
    truncated: intake.truncated ? true : undefined,
  });
  const signal = (key: string, extras: Extras = {}) => ({
    id: eventId(SOURCE, sessionId, native, key),
    source: SOURCE,
    time: new Date(intake.timeMs).toISOString(),
    session_id: sessionId,
    ...(cwd !== undefined && { cwd }),
    extensions: { ...shared, ...extras },
  });
  const envelope = (key: string, extras: Extras = {}) => ({ openhook: OPENHOOK_VERSION, ...signal(key, extras) });
  return { signal, envelope };
}

function sessionStart({ p, arrival, envelope }: Hook): Event {
  const origin = asCode(p["source"]);
  const once = origin === "startup" || origin === "fork";
  const extras = defined<Extras>({ start_origin: origin, continues: ownOf(CONTINUES, origin) });
  return {
    type: "session.start",
    ...envelope(once ? origin : arrival, extras),
    data: defined<{ model: string }>({ model: asString(p["model"]) }),
  };
}

function sessionEnd({ p, arrival, transcriptPath, envelope }: Hook): Event {
  const reason = asCode(p["reason"]) ?? "other";
  return {
    type: "session.end",
    ...envelope(arrival, { native_reason: reason }),
    data: defined<{ reason: SessionEndReason; transcript_path: string }>({
      reason: ownOf(END_REASON, reason) ?? "completed",
      transcript_path: transcriptPath,
    }),
  };
}

/** `notify`: one JSON argument after each successful turn, including turns of subagents. */
function notificationEvents(p: Payload, intake: IntakeFacts): readonly Event[] {
  const threadId = asString(p["thread-id"]);
  const turnId = asString(p["turn-id"]);
  if (threadId === undefined) return [];
  const cwd = asString(p["cwd"]) ?? intake.cwd;
  return [
    {
      type: "turn.end",
      id: turnEndId(threadId, turnId ?? arrivalKey(intake)),
      source: SOURCE,
      time: new Date(intake.timeMs).toISOString(),
      session_id: threadId,
      ...(cwd !== undefined && { cwd }),
      extensions: defined<Extras>({
        native_event: TURN_COMPLETE,
        prompt_id: turnId,
        transcript_path: sessionsHint(threadId, intake),
        payload_bytes: intake.payloadBytes,
        truncated: intake.truncated ? true : undefined,
      }),
    },
  ];
}

/** A notification has no path. If the agent's home was moved, this builds a path in that home from the thread id. */
function sessionsHint(threadId: string, { env }: IntakeFacts): string | undefined {
  const home = env["CODEX_HOME"];
  if (home === undefined || !isAbsolute(home) || !/^[\w-]{1,64}$/.test(threadId)) return undefined;
  return posix.join(home, "sessions", `rollout-${threadId}.jsonl`);
}

function toolEvents({ p, native, arrival, transcriptPath, signal, envelope }: Hook): readonly Event[] {
  const hasTranscript = transcriptPath !== undefined;
  const callId = asString(p["tool_use_id"]);
  const hookToolName = asString(p["tool_name"]);
  const input = asObject(p["tool_input"]);
  const isCounted = callId !== undefined && isSequenceNumber(callId);
  const key = isCounted ? `${callId}:${payloadDigest(p)}` : (callId ?? arrival);
  // A script of the model made this call. The session file has the script's call, which includes it.
  if (isInnerCall(callId) && hasTranscript) return [{ type: "notice", ...signal(key) }];
  const extras = defined<Extras>({
    executable: executableOf(shellCommandOf(input)),
    mcp_server: mcpServerOf(hookToolName),
    input_digest: callId === undefined ? inputDigest(p["tool_input"]) : undefined,
    given_id: isCounted ? callId : undefined,
  });
  const tool = defined<{ tool_name: string; tool_call_id: string }>({
    tool_name: callId === undefined ? hookToolName : modelToolName(hookToolName),
    tool_call_id: callId,
  });
  if (native === "PreToolUse") return [{ type: "tool.start", ...envelope(key, extras), data: tool }];

  const outcome = responseOutcome(hookToolName, p["tool_response"] ?? p["tool_output"]);
  const ended = defined<Extras>({ ...extras, exit_code: outcome.exitCode });
  if (outcome.status !== "success") {
    return [{ type: "tool.end", ...envelope(key, ended), data: { ...tool, status: "error" } }];
  }
  // The hook has no exit code; if there is a session file, its outcome counts
  if (hasTranscript && callId !== undefined) return [{ type: "tool.end", ...envelope(key, ended), data: tool }];
  return [
    {
      type: "tool.end",
      ...envelope(key, { ...ended, status_origin: "assumed" }),
      data: { ...tool, status: "success" },
    },
  ];
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
