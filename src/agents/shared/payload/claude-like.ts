import type { SessionEndReason } from "#core/model/envelope.ts";
import type { Event, Extras, NativeEventType } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { defined } from "#kit/defined.ts";
import { executableOf } from "../names/executables.ts";
import { arrivalKey } from "./derived-ids.ts";
import { inputDigest } from "./digest.ts";
import { payloadDigest } from "./identity.ts";
import { asCode, asObject, asString, asTimeMs, ownOf } from "./json.ts";
import { outcomeOf, type ToolOutcome } from "./outcome.ts";
import { eventOf, sessionOf } from "./payload-event.ts";

/** An agent whose payloads have the shape of Claude Code's, under any field names. */
export interface ClaudeLike {
  readonly source: string;
  /** Native event names, case-insensitive, and their types. Others yield nothing. */
  readonly events: Readonly<Record<string, NativeEventType>>;
  /** Variable with the session id, for payloads without one. */
  readonly sessionVariable?: string;
  /**
   * Key of a payload without a call id. @default its arrival, so that two equal payloads are two events
   */
  readonly keyOf?: (payload: unknown, intake: IntakeFacts) => string;
}

/** The events of most of these agents; a card adds or removes entries. */
export const CLAUDE_EVENTS = {
  SessionStart: "session.start",
  SessionEnd: "session.end",
  UserPromptSubmit: "prompt.submit",
  PreToolUse: "tool.start",
  PostToolUse: "tool.end",
  PostToolUseFailure: "tool.end",
  Stop: "turn.end",
  StopFailure: "turn.error",
  SubagentStart: "subagent.start",
  SubagentStop: "subagent.end",
  PreCompact: "compaction",
} as const satisfies Readonly<Record<string, NativeEventType>>;

/** The event types that such an agent can send, for its card. */
export const emitsOf = (events: ClaudeLike["events"]): readonly NativeEventType[] => [
  ...new Set(Object.values(events)),
];

/** One payload → its event, or none. */
export function claudeLikeEvents(like: ClaudeLike, payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = asObject(payload);
  const native = p === undefined ? undefined : (eventNameOf(p) ?? intake.event);
  if (p === undefined || native === undefined) return [];
  const type = typeOf(like.events, native);
  if (type === undefined) return [];

  const cwd = asString(p["cwd"]) ?? asString(p["working_dir"]);
  const environment = like.sessionVariable === undefined ? undefined : intake.env[like.sessionVariable];
  const callId = first(p, ["tool_use_id", "tool_call_id", "toolUseId", "toolCallId"]);
  const input = p["tool_input"] ?? p["toolInput"];
  const isTool = type === "tool.start" || type === "tool.end";
  const ended = type === "tool.end" ? endOf(native, p) : undefined;
  const timeMs = asTimeMs(p["timestamp"]);
  // Several registrations send one event with the same time
  const occurrence =
    like.keyOf?.(payload, intake) ?? (timeMs === undefined ? arrivalKey(intake) : payloadDigest(payload));
  return [
    eventOf(
      {
        source: like.source,
        type,
        native,
        session: sessionOf(like.source, intake, { payload: first(p, ["session_id", "sessionId"]), environment, cwd }),
        cwd,
        timeMs,
        key: isTool && callId !== undefined ? callKey(callId, payload) : occurrence,
        model: asString(p["model"]),
        promptLength: promptLengthOf(p["prompt"] ?? p["message"]),
        reason: reasonOf(p["reason"]),
        tool: {
          name: first(p, ["tool_name", "toolName"]),
          callId,
          status: ended?.status,
        },
        extras: defined<Extras>({
          ...extrasIn(p, intake),
          ...(isTool && {
            input_digest: callId === undefined ? inputDigest(input) : undefined,
            executable: executableOf(asObject(input)?.["command"]),
            exit_code: ended?.exitCode,
            status_origin: ended?.origin,
          }),
          start_origin: type === "session.start" ? asCode(p["source"]) : undefined,
          continues: type === "session.start" ? ownOf(CONTINUES, asCode(p["source"])) : undefined,
          native_reason: type === "session.end" ? asCode(p["reason"]) : undefined,
          error_type: type === "turn.error" ? (asCode(p["error_type"]) ?? "_OTHER") : undefined,
          trigger: type === "compaction" ? asCode(p["trigger"]) : undefined,
        }),
      },
      intake,
    ),
  ];
}

/** The first of several members with a text. */
export function first(p: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = asString(p[name]);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The type of a native name, case-insensitive. */
export function typeOf(events: ClaudeLike["events"], native: string): NativeEventType | undefined {
  const name = native.toLowerCase();
  return Object.entries(events).find(([known]) => known.toLowerCase() === name)?.[1];
}

/** An absolute path, with the home directory and recorded variables substituted; `undefined` for any other. */
export function absolutePath(value: unknown, intake: IntakeFacts): string | undefined {
  const text = asString(value);
  if (text === undefined || /[\n\0]/.test(text)) return undefined;
  const expanded = text
    .replace(/^~(?=[/\\])/, () => intake.env["HOME"] ?? "~")
    .replace(/^\$\{?(\w+)\}?(?=[/\\])/, (whole, name: string) => intake.env[name] ?? whole);
  return /^(?:\/|[A-Za-z]:[/\\]|\\\\)/.test(expanded) ? expanded : undefined;
}

// --- internal ---

/** A numbered id is not unique, so the payload is the key: it is the same for several registrations of one hook. */
const callKey = (callId: string, payload: unknown): string =>
  isSequenceNumber(callId) ? `${callId}:${payloadDigest(payload)}` : callId;

type Fields = Readonly<Record<string, unknown>>;

const eventNameOf = (p: Fields): string | undefined => first(p, ["hook_event_name", "hookEventName", "event"]);

const CONTINUES: Readonly<Record<string, NonNullable<Extras["continues"]>>> = {
  resume: "same-session",
  continue: "same-session",
  checkpoint: "same-session",
  fork: "fork",
  compact: "compaction",
};

function extrasIn(p: Fields, intake: IntakeFacts): Extras {
  return defined<Extras>({
    agent_id: first(p, ["agent_id", "agentId"]),
    agent_type: first(p, ["agent_type", "agentType", "agent_name"]),
    transcript_path: absolutePath(first(p, ["transcript_path", "transcriptPath"]), intake),
    permission_mode: asCode(p["permission_mode"]),
  });
}

/** A prompt is a text, or a list of parts, which has no length. */
const promptLengthOf = (prompt: unknown): number | undefined =>
  typeof prompt === "string" && prompt !== "" ? prompt.length : undefined;

function endOf(native: string, p: Fields): ToolOutcome {
  if (/failure/i.test(native)) return { status: "error", origin: "native" };
  return outcomeOf(p["tool_response"] ?? p["toolResponse"] ?? p["tool_output"]);
}

const REASONS: Readonly<Record<string, SessionEndReason>> = {
  prompt_input_exit: "user_exit",
  logout: "user_exit",
  exit: "user_exit",
  user_exit: "user_exit",
  error: "error",
  timeout: "timeout",
};

const reasonOf = (reason: unknown): SessionEndReason => ownOf(REASONS, asCode(reason)) ?? "completed";
