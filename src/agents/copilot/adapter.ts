// https://docs.github.com/en/copilot/reference/hooks-configuration and recordings of 1.0.102, read 2026-11-21
import { posix, win32 } from "node:path";
import type { Recognition } from "#core/model/agent.ts";
import type { SessionEndReason } from "#core/model/envelope.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { executableOf } from "../shared/names/executables.ts";
import { skillOf } from "../shared/names/skill.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { type Frame, type FramedMembers, type FramedTable, framedAdapter } from "../shared/payload/framed-adapter.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asCode, asObject, asString, ownOf } from "../shared/payload/json.ts";
import { eventIn } from "../shared/payload/known.ts";
import { sessionOf } from "../shared/payload/payload-event.ts";
import { claudeName } from "./names.ts";
import { type NativeEvent, nativeEventOf, OTHER_SPELLINGS, type Payload, readPayload } from "./payload.ts";

const SOURCE = "copilot";

const EVENTS = {
  sessionStart: {
    type: "session.start",
    read({ p }) {
      const origin = asCode(p.field("source"));
      return { extras: { start_origin: origin, continues: origin === "resume" ? "same-session" : undefined } };
    },
  },
  userPromptSubmitted: {
    type: "prompt.submit",
    or: ["nothing"],
    read({ p, agentId }) {
      // For a subagent, the prompt is its task, not the user's
      if (agentId !== undefined) return undefined;
      const prompt = promptOf(p.field("prompt"));
      return {
        promptLength: typeof prompt === "string" ? prompt.length : undefined,
        extras: { prompt_origin: originOf(prompt) },
      };
    },
  },
  preToolUse: { type: "tool.start", read: callOf },
  postToolUse: { type: "tool.end", read: endOf },
  postToolUseFailure: {
    type: "tool.end",
    since: "1.0.15",
    read(frame) {
      const { tool, extras } = callOf(frame);
      return { tool: { ...tool, status: "error" }, extras };
    },
  },
  errorOccurred: {
    type: "notice",
    or: ["turn.error"],
    // A recoverable error is retried and does not end the turn; the session file also has the others
    read: (frame) => ({
      type: frame.p.field("recoverable") === false ? "turn.error" : "notice",
      extras: { error_type: errorTypeOf(frame) },
    }),
  },
  agentStop: {
    type: "turn.end",
    since: "0.0.401",
    or: ["subagent.end"],
    read: ({ agentId }) => (agentId === undefined ? {} : { type: "subagent.end" }),
  },
  // The session's agent is no subagent
  subagentStart: {
    type: "subagent.start",
    since: "1.0.7",
    or: ["nothing"],
    read: ({ agentId }) => (agentId === undefined ? undefined : {}),
  },
  subagentStop: {
    type: "subagent.end",
    since: "0.0.401",
    or: ["nothing"],
    read: ({ agentId }) => (agentId === undefined ? undefined : {}),
  },
  preCompact: {
    type: "compaction",
    hook: "none",
    read: ({ p }) => ({ extras: { trigger: asCode(p.field("trigger")) } }),
  },
  sessionEnd: {
    type: "session.end",
    read({ p }) {
      const reason = asCode(p.field("reason"));
      return { reason: ownOf(END_REASONS, reason) ?? "completed", extras: { native_reason: reason } };
    },
  },
} as const satisfies FramedTable<CopilotFrame, NativeEvent>;

export const adapter = framedAdapter({
  source: SOURCE,
  recognises,
  events: EVENTS,
  otherSpellings: OTHER_SPELLINGS,
  notNeeded: "userPromptTransformed preMcpToolCall notification permissionRequest",
  fields: `sessionId timestamp cwd source initialPrompt prompt reason toolName toolArgs toolInput toolResult error
    errorContext recoverable agentId agentName agentType agentDisplayName agentDescription parentAgentId transcriptPath
    stopReason stopHookActive trigger customInstructions message title notificationType permissionSuggestions hookName
    hookEventName traceparent tracestate response`,
  nameOf: eventIn("hook_event_name", "hookName"),
  frameOf,
});

/** Prefix of prompts in plan mode. */
export const PLAN_PREFIX = "[[PLAN]] ";

/** The exit code at the end of a shell tool's result. Hooks have it nowhere else. */
export function exitCodeIn(text: unknown): number | undefined {
  const tail = typeof text === "string" ? text.slice(-MAX_EXIT_LINE_CHARS) : "";
  const match = /<shellId: [^<>]{1,64} completed with exit code (-?\d{1,10})>\s*$/.exec(tail);
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

// --- internal ---

interface CopilotFrame extends Frame {
  readonly p: Payload;
  /** Of a subagent. */
  readonly agentId: string | undefined;
  /** Of a tool's input. */
  readonly digest: string | undefined;
}

/**
 * Certain: the camelCase form with a time in milliseconds, which no other agent has. The snake_case form equals Claude Code's
 * except for an ISO time and a missing transcript path, so it is certain only with Copilot's environment variable.
 */
function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const p = asObject(payload);
  if (p === undefined || FOREIGN_FIELDS.some((mark) => p[mark] !== undefined)) return "no";
  const path = asString(p["transcriptPath"]) ?? asString(p["transcript_path"]);
  if (path !== undefined && !OWN_PATH.test(path)) return "no";
  const name = asString(p["hook_event_name"]);
  if (isCamelForm(p)) return asString(p["sessionId"]) === undefined ? "likely" : "certain";
  if (name === undefined) {
    return intake.source === SOURCE && nativeEventOf(intake.event) !== undefined ? "possible" : "no";
  }
  if (asString(p["session_id"]) === undefined || !/^[A-Z]/.test(name)) return "no";
  if (path !== undefined) return "certain";
  const isSnakeForm = asString(p["timestamp"]) !== undefined && FOREIGN_SNAKE_FIELDS.every((mark) => !(mark in p));
  if (!isSnakeForm) return "possible";
  return intake.env["COPILOT_CLI"] === undefined ? "likely" : "certain";
}

function frameOf(payload: unknown, intake: IntakeFacts): CopilotFrame | undefined {
  const p = readPayload(payload, intake);
  if (p === undefined) return undefined;
  const cwd = p.cwd ?? intake.cwd;
  const agentId = asString(p.field("agentId"));
  const path = asString(p.field("transcriptPath"));
  // If a subagent starts another one, the event's session id is used nowhere else; the path of the session file has the right one
  const isSubagentEvent = p.event === "subagentStart" || p.event === "subagentStop";
  const reportedId = (isSubagentEvent ? sessionIn(path) : undefined) ?? p.field("sessionId");
  const session = sessionOf(SOURCE, intake, { payload: reportedId, cwd });
  const isTool = EVENTS[p.event].type.startsWith("tool.");
  const digest = isTool && !intake.truncated ? inputDigest(p.toolInput) : undefined;
  return {
    p,
    agentId,
    digest,
    // The same name for both payload forms, so that an event that is sent in both is deduplicated
    native: p.event,
    session,
    cwd,
    timeMs: p.timeMs,
    key:
      p.timeMs === undefined
        ? payloadDigest(payload)
        : JSON.stringify([p.timeMs, agentId ?? "", claudeName(p.toolName) ?? "", digest ?? ""]),
    extras: {
      native_event: nativeNameOf(payload, intake) ?? p.event,
      agent_id: agentId,
      agent_type: asString(p.field("agentType")) ?? asString(p.field("agentName")),
      parent_session_id: parentOf(p, session.id, agentId, path),
      agent_version: intake.env["COPILOT_CLI_BINARY_VERSION"],
      transcript_path: path ?? (agentId === undefined ? sessionFile(session.id, intake.env) : undefined),
    },
  };
}

/** Fields of other agents' payloads that are also camelCase or have a session id or time. */
const FOREIGN_FIELDS = [
  "openhook",
  "cursor_version",
  "clineVersion",
  "hookEventName",
  "conversationId",
  "trajectory_id",
];

/** Fields of camelCase payloads besides session, time and folder; each payload has one of them. */
const CAMEL_FIELDS = [
  "toolName",
  "prompt",
  "initialPrompt",
  "source",
  "reason",
  "stopReason",
  "errorContext",
  "agentName",
  "trigger",
  "hookName",
  "notification_type",
];

/** Fields that other agents send in the snake_case form, even if null. */
const FOREIGN_SNAKE_FIELDS = ["transcript_path", "tool_use_id", "turn_id", "permission_mode"];

const isCamelForm = (p: Readonly<Record<string, unknown>>): boolean =>
  typeof p["timestamp"] === "number" &&
  typeof p["cwd"] === "string" &&
  p["session_id"] === undefined &&
  CAMEL_FIELDS.some((mark) => p[mark] !== undefined);

const OWN_PATH = /[/\\](?:\.copilot[/\\].*|session-state[/\\][^/\\]+[/\\]events\.jsonl$)/;

// Longer than the last line; the whole text can be long
const MAX_EXIT_LINE_CHARS = 160;

const END_REASONS: Readonly<Record<string, SessionEndReason>> = {
  user_exit: "user_exit",
  abort: "user_exit",
  error: "error",
  timeout: "timeout",
};

const nativeNameOf = (payload: unknown, intake: IntakeFacts): string | undefined =>
  asString(asObject(payload)?.["hook_event_name"]) ??
  (nativeEventOf(intake.event) === undefined ? undefined : intake.event);

/**
 * Events of a subagent have a separate session id; `parentAgentId` or the path of the session file has the parent's. Up to 1.0.88 only
 * the path names the parent.
 */
function parentOf(
  p: Payload,
  sessionId: string,
  agentId: string | undefined,
  path: string | undefined,
): string | undefined {
  const named = agentId === sessionId ? asString(p.field("parentAgentId")) : undefined;
  const parent = named ?? sessionIn(path);
  return parent === sessionId ? undefined : parent;
}

/** The session id in the path of a session file. */
const sessionIn = (path: string | undefined): string | undefined =>
  path === undefined ? undefined : /[/\\]session-state[/\\]([^/\\]+)[/\\][^/\\]+$/.exec(path)?.[1];

/** The path of the session file, which may not exist yet; `undefined` if the home folder is unknown. */
function sessionFile(sessionId: string, env: IntakeFacts["env"]): string | undefined {
  const home = env["HOME"];
  const base = env["COPILOT_HOME"] ?? (home === undefined ? undefined : `${home}/.copilot`);
  if (base === undefined || !isFolderName(sessionId)) return undefined;
  const { isAbsolute, join } = /^[A-Za-z]:|^\\\\/.test(base) ? win32 : posix;
  return isAbsolute(base) ? join(base, "session-state", sessionId, "events.jsonl") : undefined;
}

/** True for a plain folder name: no separators, no leading dot. */
export const isFolderName = (name: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(name);

function callOf({ p, digest }: CopilotFrame) {
  return {
    tool: { name: p.toolName },
    extras: {
      input_digest: digest,
      executable: executableOf(asObject(p.toolInput)?.["command"]),
      skill: skillOf(p.toolName, p.toolInput),
    },
  };
}

function endOf(frame: CopilotFrame): FramedMembers {
  const { tool, extras } = callOf(frame);
  const result = asObject(frame.p.field("toolResult"));
  const kind = asCode(result?.["resultType"] ?? result?.["result_type"]) ?? "success";
  if (kind === "denied" || kind === "rejected") {
    return { tool: { ...tool, status: "error" }, extras: { ...extras, denied: true } };
  }
  return {
    // Copilot reports success for every command that ran, whatever its exit code
    tool: { ...tool, status: kind === "success" ? "success" : "error" },
    extras: {
      ...extras,
      exit_code: exitCodeIn(result?.["textResultForLlm"] ?? result?.["text_result_for_llm"]),
      error_type: kind === "success" || kind === "failure" ? undefined : kind,
    },
  };
}

function errorTypeOf({ p }: CopilotFrame): string {
  const error = asObject(p.field("error"));
  const name = asCode(error?.["name"]);
  return name === undefined || name === "Error" ? (asCode(p.field("errorContext")) ?? "_OTHER") : name;
}

const promptOf = (prompt: unknown): unknown =>
  typeof prompt === "string" && prompt.startsWith(PLAN_PREFIX) ? prompt.slice(PLAN_PREFIX.length) : prompt;

/** Notices that background work ended, and autopilot's reminders, have the same form as the user's prompts. */
const originOf = (prompt: unknown): "human" | "machine" =>
  typeof prompt === "string" && MACHINE_PROMPT.test(prompt) ? "machine" : "human";
const MACHINE_PROMPT =
  /^(?:<system_notification>|You have not yet marked the task as complete using the task_complete tool\.)/;
