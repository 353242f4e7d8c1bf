// https://docs.github.com/en/copilot/reference/hooks-configuration and recordings of 1.0.102, read 2026-11-21
import { posix, win32 } from "node:path";
import type { IntakeFacts, Recognition } from "../../model/agent.ts";
import { defined } from "../../model/defined.ts";
import type { SessionEndReason } from "../../model/envelope.ts";
import type { Event, EventType, Extras } from "../../model/event.ts";
import { executableOf } from "../shared/names/executables.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asCode, asObject, asString, ownOf } from "../shared/payload/json.ts";
import { eventOf, type PayloadTool, sessionOf } from "../shared/payload/payload-event.ts";
import { claudeName } from "./names.ts";
import { type NativeEvent, nativeEventOf, type Payload, readPayload } from "./payload.ts";

export const SOURCE = "copilot";

/**
 * Detection. The camelCase form with a time in milliseconds is nobody else's. The snake_case form is Claude Code's, but for
 * an ISO time and the missing transcript path; the environment then says whose it is.
 */
export function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const p = asObject(payload);
  if (p === undefined || FOREIGN_MARKS.some((mark) => p[mark] !== undefined)) return "no";
  const path = asString(p["transcriptPath"]) ?? asString(p["transcript_path"]);
  if (path !== undefined && !OWN_PATH.test(path)) return "no";
  const name = asString(p["hook_event_name"]);
  if (isCamelForm(p)) return asString(p["sessionId"]) === undefined ? "likely" : "certain";
  if (name === undefined) {
    return intake.source === SOURCE && nativeEventOf(intake.event) !== undefined ? "possible" : "no";
  }
  if (asString(p["session_id"]) === undefined || !/^[A-Z]/.test(name)) return "no";
  if (path !== undefined) return "certain";
  const isOfThatForm = asString(p["timestamp"]) !== undefined && SNAKE_FOREIGN.every((mark) => !(mark in p));
  if (!isOfThatForm) return "possible";
  return intake.env["COPILOT_CLI"] === undefined ? "likely" : "certain";
}

/** One payload → the event it tells. Events of no use to a trace, and unknown ones, give none. */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = readPayload(payload, intake);
  if (p === undefined) return [];
  const cwd = p.cwd ?? intake.cwd;
  const agentId = asString(p.field("agentId"));
  const type = typeOf(p, agentId);
  if (type === undefined) return [];

  const path = asString(p.field("transcriptPath"));
  // A subagent that starts another tells of it under an id that stands nowhere else; the file is that of the whole session
  const isSpawn = p.event === "subagentStart" || p.event === "subagentStop";
  const told = (isSpawn ? sessionIn(path) : undefined) ?? p.field("sessionId");
  const session = sessionOf(SOURCE, intake, { payload: told, cwd });
  const isTool = type === "tool.start" || type === "tool.end";
  const digest = isTool && !intake.truncated ? inputDigest(p.toolInput) : undefined;
  const prompt = promptOf(p.field("prompt"));
  const outcome: Outcome = type === "tool.end" ? outcomeOf(p) : {};
  return [
    eventOf(
      {
        source: SOURCE,
        type,
        // One name for both forms of a payload: the same thing told in both is one event
        native: p.event,
        session,
        cwd,
        timeMs: p.timeMs,
        key:
          p.timeMs === undefined
            ? payloadDigest(payload)
            : JSON.stringify([p.timeMs, agentId ?? "", claudeName(p.toolName) ?? "", digest ?? ""]),
        promptLength: typeof prompt === "string" ? prompt.length : undefined,
        reason: ownOf(END_REASONS, asCode(p.field("reason"))) ?? "completed",
        tool: defined<PayloadTool>({
          name: p.toolName,
          callId: undefined,
          status: outcome.status,
          durationMs: undefined,
        }),
        extras: defined<Extras>({
          native_event: nativeNameOf(payload, intake) ?? p.event,
          agent_id: agentId,
          agent_type: asString(p.field("agentType")) ?? asString(p.field("agentName")),
          parent_session_id: parentOf(p, session.id, agentId, path),
          agent_version: intake.env["COPILOT_CLI_BINARY_VERSION"],
          transcript_path: path ?? (agentId === undefined ? sessionFile(session.id, intake.env) : undefined),
          input_digest: digest,
          executable: isTool ? executableOf(asObject(p.toolInput)?.["command"]) : undefined,
          exit_code: outcome.exitCode,
          denied: outcome.denied,
          error_type: errorTypeOf(p, outcome),
          ...(type === "prompt.submit" && { prompt_origin: originOf(prompt) }),
          ...(type === "session.start" && startOf(p)),
          native_reason: type === "session.end" ? asCode(p.field("reason")) : undefined,
          trigger: type === "compaction" ? asCode(p.field("trigger")) : undefined,
        }),
      },
      intake,
    ),
  ];
}

/** Stands before what is typed in plan mode. */
export const PLAN_MARK = "[[PLAN]] ";

/** The exit code at the end of a shell tool's result; the hooks have it nowhere else. */
export function exitCodeIn(text: unknown): number | undefined {
  const tail = typeof text === "string" ? text.slice(-EXIT_TAIL_CHARS) : "";
  const match = /<shellId: [^<>]{1,64} completed with exit code (-?\d{1,10})>\s*$/.exec(tail);
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

// --- internal ---

/** Marks of other agents with camelCase fields, a session id or a time of their own. */
const FOREIGN_MARKS = [
  "openhook",
  "cursor_version",
  "clineVersion",
  "hookEventName",
  "conversationId",
  "trajectory_id",
];

/** What the camelCase payloads have beside session, time and folder; each has one of these. */
const CAMEL_MARKS = [
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

/** What other senders of the snake_case form have, even where it is null. */
const SNAKE_FOREIGN = ["transcript_path", "tool_use_id", "turn_id", "permission_mode"];

const isCamelForm = (p: Readonly<Record<string, unknown>>): boolean =>
  typeof p["timestamp"] === "number" &&
  typeof p["cwd"] === "string" &&
  p["session_id"] === undefined &&
  CAMEL_MARKS.some((mark) => p[mark] !== undefined);

const OWN_PATH = /[/\\](?:\.copilot[/\\].*|session-state[/\\][^/\\]+[/\\]events\.jsonl$)/;

// The text is long, its last line short
const EXIT_TAIL_CHARS = 160;

const TYPES: Readonly<Record<NativeEvent, EventType>> = {
  sessionStart: "session.start",
  sessionEnd: "session.end",
  userPromptSubmitted: "prompt.submit",
  preToolUse: "tool.start",
  postToolUse: "tool.end",
  postToolUseFailure: "tool.end",
  errorOccurred: "turn.error",
  agentStop: "turn.end",
  subagentStart: "subagent.start",
  subagentStop: "subagent.end",
  preCompact: "compaction",
};

const END_REASONS: Readonly<Record<string, SessionEndReason>> = {
  user_exit: "user_exit",
  abort: "user_exit",
  error: "error",
  timeout: "timeout",
};

function typeOf(p: Payload, agentId: string | undefined): EventType | undefined {
  switch (p.event) {
    // The task a subagent is given is nobody's prompt
    case "userPromptSubmitted":
      return agentId === undefined ? "prompt.submit" : undefined;
    case "agentStop":
      return agentId === undefined ? "turn.end" : "subagent.end";
    // Errors that were tried again say recoverable; of those that end the turn the session file tells
    case "errorOccurred":
      return p.field("recoverable") === false ? "turn.error" : "notice";
    case "subagentStart":
    case "subagentStop":
      return agentId === undefined ? undefined : ownOf(TYPES, p.event);
    default:
      return ownOf(TYPES, p.event);
  }
}

const nativeNameOf = (payload: unknown, intake: IntakeFacts): string | undefined =>
  asString(asObject(payload)?.["hook_event_name"]) ??
  (nativeEventOf(intake.event) === undefined ? undefined : intake.event);

/** A subagent's own events have its own session id; the session it works for is the parent, or the one whose file it names. */
function parentOf(
  p: Payload,
  sessionId: string,
  agentId: string | undefined,
  path: string | undefined,
): string | undefined {
  if (agentId === undefined) return undefined;
  const named = agentId === sessionId ? asString(p.field("parentAgentId")) : undefined;
  const parent = named ?? sessionIn(path);
  return parent === sessionId ? undefined : parent;
}

/** The session that a session file is of. */
const sessionIn = (path: string | undefined): string | undefined =>
  path === undefined ? undefined : /[/\\]session-state[/\\]([^/\\]+)[/\\][^/\\]+$/.exec(path)?.[1];

/** Where the session file is or will be; of no use where neither home is known. */
function sessionFile(sessionId: string, env: IntakeFacts["env"]): string | undefined {
  const home = env["HOME"];
  const base = env["COPILOT_HOME"] ?? (home === undefined ? undefined : `${home}/.copilot`);
  if (base === undefined || !isFolderName(sessionId)) return undefined;
  const { isAbsolute, join } = /^[A-Za-z]:|^\\\\/.test(base) ? win32 : posix;
  return isAbsolute(base) ? join(base, "session-state", sessionId, "events.jsonl") : undefined;
}

/** True for what can be one folder and nothing else. */
export const isFolderName = (name: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(name);

interface Outcome {
  readonly status?: "success" | "error";
  readonly exitCode?: number | undefined;
  readonly denied?: true;
  readonly errorType?: string;
}

function outcomeOf(p: Payload): Outcome {
  if (p.event === "postToolUseFailure") return { status: "error" };
  const result = asObject(p.field("toolResult"));
  const kind = asCode(result?.["resultType"] ?? result?.["result_type"]) ?? "success";
  const exitCode = exitCodeIn(result?.["textResultForLlm"] ?? result?.["text_result_for_llm"]);
  // A command that ran is a success to Copilot, whatever its exit code
  if (kind === "success") return { status: "success", exitCode };
  if (kind === "denied" || kind === "rejected") return { status: "error", denied: true };
  return { status: "error", exitCode, ...(kind !== "failure" && { errorType: kind }) };
}

function errorTypeOf(p: Payload, outcome: Outcome): string | undefined {
  if (p.event !== "errorOccurred") return outcome.errorType;
  const error = asObject(p.field("error"));
  const name = asCode(error?.["name"]);
  return name === undefined || name === "Error" ? (asCode(p.field("errorContext")) ?? "_OTHER") : name;
}

const promptOf = (prompt: unknown): unknown =>
  typeof prompt === "string" && prompt.startsWith(PLAN_MARK) ? prompt.slice(PLAN_MARK.length) : prompt;

/** What ends in the background, and that autopilot is to go on, is told to the model as if a user had said it. */
const originOf = (prompt: unknown): "human" | "machine" =>
  typeof prompt === "string" && MACHINE_PROMPT.test(prompt) ? "machine" : "human";
const MACHINE_PROMPT =
  /^(?:<system_notification>|You have not yet marked the task as complete using the task_complete tool\.)/;

function startOf(p: Payload): Extras {
  const origin = asCode(p.field("source"));
  return defined<Extras>({ start_origin: origin, continues: origin === "resume" ? "same-session" : undefined });
}
