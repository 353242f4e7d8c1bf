// https://code.claude.com/docs/en/hooks and recordings of 2.0.77 to 2.1.329, read 2026-11-21

import type { Recognition } from "#core/model/agent.ts";
import type { SessionEndReason } from "#core/model/envelope.ts";
import { OPENHOOK_VERSION } from "#core/model/envelope-types.ts";
import type { Event, Extras } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { defined } from "#kit/defined.ts";
import { executableOf } from "../shared/names/executables.ts";
import { arrivalKey, derivedSessionId } from "../shared/payload/derived-ids.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { eventId, payloadDigest } from "../shared/payload/identity.ts";
import { asArray, asCode, asCount, asObject, asString, ownOf } from "../shared/payload/json.ts";
import { exitCodeOf } from "./exit-code.ts";
import { isMachinePrompt } from "./machine.ts";
import { patchLines } from "./patch.ts";

export const SOURCE = "claude-code";

/** Certain by the transcript's folder or the agent's environment variables; other agents' payloads have the same shape. */
export function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const p = asObject(payload);
  if (p === undefined || p["cursor_version"] !== undefined) return "no";
  if (!/^[A-Z]/.test(nativeOf(p, intake) ?? "")) return "no";
  // Agents with similar hooks omit these fields
  if (asString(p["session_id"]) === undefined || p["hook_event_name"] === undefined) {
    return intake.source === SOURCE && asString(p["tool_name"]) !== undefined ? "possible" : "no";
  }
  const path = asString(p["transcript_path"]) ?? "";
  const folder = intake.env["CLAUDE_CONFIG_DIR"] ?? "";
  if (/[/\\]\.claude[/\\]/.test(path) || (folder !== "" && path.startsWith(folder))) return "certain";
  if (p["session_id"] === intake.env["CLAUDE_CODE_SESSION_ID"]) return "certain";
  // Agents that Claude Code starts inherit the variable
  return intake.source === SOURCE && intake.env["CLAUDE_PID"] !== undefined ? "likely" : "possible";
}

/** The event of a payload; none for payloads that are unknown or not needed for a trace. */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const hook = hookOf(payload, intake);
  const event = hook === undefined ? undefined : ownOf(EVENTS, hook.native)?.(hook);
  return event === undefined ? [] : [event];
}

// --- internal ---

type Fields = Readonly<Record<string, unknown>>;

/** A payload, and what the events of all payloads have. */
interface Hook {
  readonly p: Fields;
  readonly native: string;
  readonly call: Call;
  /** Part of the key of events without an id. Without a prompt id, payloads of two turns or segments are byte-identical. */
  readonly moment: string | undefined;
  /** @param key unique in the session among payloads of this name; if absent, the process and the whole payload are */
  signal(key: string | undefined, extras?: Extras): Signal;
  envelope(key: string | undefined, extras?: Extras): Signal & { readonly openhook: typeof OPENHOOK_VERSION };
}

interface Signal {
  readonly id: string;
  readonly source: string;
  readonly time: string;
  readonly session_id: string;
  readonly cwd?: string;
  readonly extensions: Extras;
}

/** How a payload names its tool call. */
interface Call {
  readonly key: string | undefined;
  readonly tool: { readonly tool_name?: string; readonly tool_call_id?: string };
  readonly extras: Extras;
}

/** @returns `undefined` without an event name, or with neither a session id nor a tool */
function hookOf(payload: unknown, intake: IntakeFacts): Hook | undefined {
  const p = asObject(payload);
  const native = p === undefined ? undefined : nativeOf(p, intake);
  if (p === undefined || native === undefined) return undefined;
  const payloadSessionId = asString(p["session_id"]);
  if (payloadSessionId === undefined && asString(p["tool_name"]) === undefined) return undefined;

  const cwd = asString(p["cwd"]) ?? intake.cwd;
  const sessionId = payloadSessionId ?? derivedSessionId(SOURCE, intake, asString(p["cwd"]));
  const process = intake.env["CLAUDE_PID"] ?? (intake.parentPid === undefined ? undefined : String(intake.parentPid));
  const shared = defined<Extras>({
    native_event: native,
    prompt_id: asString(p["prompt_id"]),
    agent_id: asString(p["agent_id"]),
    agent_type: asString(p["agent_type"]),
    transcript_path: asString(p["transcript_path"]),
    permission_mode: asCode(p["permission_mode"]),
    mcp_server: mcpServerOf(asString(asObject(p["mcp_server"])?.["name"]), asString(p["tool_name"]) ?? ""),
    payload_bytes: intake.payloadBytes,
    truncated: intake.truncated ? true : undefined,
    session_id_origin: payloadSessionId === undefined ? "minted" : undefined,
    process,
  });
  const base = (key: string | undefined) => ({
    id: eventId(SOURCE, sessionId, native, key ?? `${process ?? ""}:${payloadDigest(payload)}`),
    source: SOURCE,
    time: new Date(intake.timeMs).toISOString(),
    session_id: sessionId,
    ...(cwd !== undefined && { cwd }),
  });
  return {
    p,
    native,
    call: callOf(p),
    moment: p["prompt_id"] === undefined ? `${process ?? ""}:${arrivalKey(intake)}` : undefined,
    signal: (key, extras = {}) => ({ ...base(key), extensions: { ...shared, ...extras } }),
    envelope: (key, extras = {}) => ({
      openhook: OPENHOOK_VERSION,
      ...base(key),
      extensions: { ...shared, ...extras },
    }),
  };
}

function callOf(p: Fields): Call {
  const id = asString(p["tool_use_id"]);
  // Numbered ids are reused in subagents and after compactions; there, input and turn distinguish two calls
  const isCounted = id !== undefined && isSequenceNumber(id);
  return {
    key: isCounted ? undefined : id,
    tool: defined<{ tool_name: string; tool_call_id: string }>({
      tool_name: asString(p["tool_name"]),
      tool_call_id: id,
    }),
    extras: defined<Extras>({
      // Without a call id, the input identifies the call
      input_digest: id === undefined ? inputDigest(p["tool_input"]) : undefined,
      given_id: isCounted ? id : undefined,
    }),
  };
}

const EVENTS: Readonly<Record<string, (hook: Hook) => Event | undefined>> = {
  SessionStart: ({ p, moment, envelope }) => {
    const origin = asCode(p["source"]);
    const extras = defined<Extras>({ start_origin: origin, continues: ownOf(CONTINUES, origin) });
    return {
      type: "session.start",
      ...envelope(origin === "resume" ? moment : undefined, extras),
      data: defined<{ model: string }>({ model: asString(p["model"]) }),
    };
  },
  SessionEnd: ({ p, moment, envelope }) => {
    const reason = asCode(p["reason"]) ?? "other";
    return {
      type: "session.end",
      ...envelope(moment, { native_reason: reason }),
      data: defined<{ reason: SessionEndReason; transcript_path: string }>({
        reason: ownOf(END_REASON, reason) ?? "completed",
        transcript_path: asString(p["transcript_path"]),
      }),
    };
  },
  UserPromptSubmit: ({ p, envelope }) => {
    const prompt = typeof p["prompt"] === "string" ? p["prompt"] : undefined;
    return {
      type: "prompt.submit",
      ...envelope(asString(p["prompt_id"]), { prompt_origin: isMachinePrompt(prompt) ? "machine" : "human" }),
      data: defined<{ prompt_length: number }>({ prompt_length: prompt?.length }),
    };
  },
  PreToolUse: ({ p, call, envelope }) => ({
    type: "tool.start",
    ...envelope(call.key, { ...call.extras, ...executable(p) }),
    data: call.tool,
  }),
  PostToolUse: ({ p, call, envelope }) => {
    const response = asObject(p["tool_response"]);
    const extras = defined<Extras>({
      ...call.extras,
      ...patchLines(response),
      spawned_agent_id: asString(response?.["agentId"]),
      ...executable(p),
    });
    return {
      type: "tool.end",
      ...envelope(call.key, extras),
      data: { ...call.tool, status: "success", ...duration(p) },
    };
  },
  PostToolUseFailure: ({ p, call, envelope }) => {
    const extras = defined<Extras>({
      ...call.extras,
      exit_code: exitCodeOf(p["error"]),
      error_type: p["is_interrupt"] === true ? "interrupted" : undefined,
      ...executable(p),
    });
    return { type: "tool.end", ...envelope(call.key, extras), data: { ...call.tool, status: "error", ...duration(p) } };
  },
  PostToolBatch: ({ p, signal }) => {
    const ids = asArray(p["tool_calls"]).flatMap((call) => asString(asObject(call)?.["tool_use_id"]) ?? []);
    return { type: "tool.batch", ...signal(ids.some(isSequenceNumber) ? undefined : ids[0], { tool_call_ids: ids }) };
  },
  PermissionDenied: ({ call, signal }) => {
    const id = call.tool.tool_call_id;
    return id === undefined ? undefined : { type: "tool.batch", ...signal(call.key, { tool_call_ids: [id] }) };
  },
  Stop: ({ p, moment, signal }) => ({
    type: "turn.end",
    ...signal(moment, { background_count: asArray(p["background_tasks"]).length }),
  }),
  StopFailure: ({ p, moment, signal }) => ({
    type: "turn.error",
    ...signal(moment, { error_type: asCode(p["error"]) ?? "_OTHER" }),
  }),
  SubagentStart: ({ moment, signal }) => ({ type: "subagent.start", ...signal(moment) }),
  SubagentStop: ({ moment, signal }) => ({ type: "subagent.end", ...signal(moment) }),
  PreCompact: ({ p, signal }) => ({
    type: "compaction",
    ...signal(undefined, defined<Extras>({ trigger: asCode(p["trigger"]) })),
  }),
};

const executable = (p: Fields): Extras =>
  defined<Extras>({ executable: executableOf(asObject(p["tool_input"])?.["command"]) });

const nativeOf = (p: Fields, intake: IntakeFacts): string | undefined =>
  asString(p["hook_event_name"]) ?? (intake.source === SOURCE ? intake.event : undefined);

/** Hooks have a server's own name (`plugin:docs:docs`). Transcripts have only tool names, in which some characters are replaced. */
function mcpServerOf(name: string | undefined, tool: string): string | undefined {
  const plain = name?.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  // Claude Code's rule for names of claude.ai connectors
  const connector = plain?.replaceAll(/_+/g, "_").replaceAll(/^_|_$/g, "");
  return [plain, connector].find((written) => tool.startsWith(`mcp__${written}__`)) ?? name;
}

const CONTINUES: Readonly<Record<string, NonNullable<Extras["continues"]>>> = {
  resume: "same-session",
  fork: "fork",
  compact: "compaction",
};

const END_REASON: Readonly<Record<string, SessionEndReason>> = {
  prompt_input_exit: "user_exit",
  logout: "user_exit",
  clear: "completed",
  resume: "completed",
  other: "completed",
};

function duration(p: Fields): { duration_ms?: number } {
  const durationMs = asCount(p["duration_ms"]);
  return durationMs === undefined ? {} : { duration_ms: durationMs };
}
