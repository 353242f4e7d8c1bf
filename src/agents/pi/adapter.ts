// docs/extensions.md of @mariozechner/pi-coding-agent 0.73.1 and recordings, read 2026-11-26

import type { Recognition } from "#core/model/agent.ts";
import type { SessionEndReason } from "#core/model/envelope.ts";
import type { Event, Extras } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { defined } from "#kit/defined.ts";
import { executableOf } from "../shared/names/executables.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asCode, asCount, asObject, asString, asTimeMs } from "../shared/payload/json.ts";
import { eventOf, type PayloadEvent } from "../shared/payload/payload-event.ts";
import { helperEntries } from "./helpers.ts";
import { KNOWN } from "./known.ts";
import {
  answerEntries,
  answerKeyOf,
  errorOf,
  isRetryable,
  lengthOf,
  MAX_RETRIES,
  type Message,
  messagesIn,
  modelNameIn,
  paidEntries,
  timestampOf,
  toolOutcome,
  toolUsage,
  toolUsageKeyOf,
} from "./messages.ts";

export const SOURCE = "pi";

/** Recognises what an extension passes on: pi's event, and the members of its context that identify the session. */
export function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const { event, context } = partsOf(payload);
  const type = asString(event?.["type"]);
  if (event === undefined || context === undefined || type === undefined) return "no";
  if (asString(context["session_id"]) !== undefined && KNOWN.events.includes(type)) return "certain";
  return intake.source === SOURCE ? "possible" : "no";
}

/** One event of pi → its events. Most are not needed. */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const made = payloadEventOf(payload);
  return made === undefined ? [] : [eventOf(made, intake)];
}

/** Answers, in the form of the session's file. They are merged with its lines, and replace them if there is no file. */
export function toEntries(payload: unknown, intake: IntakeFacts): readonly TranscriptEntry[] {
  const { event, context, extension } = partsOf(payload);
  if (event === undefined || context === undefined || !isReported(context, extension)) return [];
  if (event["type"] === "helper_start") {
    const agentId = asString(context["session_id"]);
    const timeMs = asCount(event["timestamp"]) ?? intake.timeMs;
    return agentId === undefined
      ? []
      : [
          defined<EntryOf<"subagent">>({
            kind: "subagent",
            key: `subagent:${agentId}`,
            globalKey: `subagent:${agentId}`,
            timeMs,
            agentId,
            parentCallId: asString(extension?.["call_id"]),
          }),
        ];
  }
  const summary = summaryIn(event);
  const key = summaryKeyOf(summary);
  if (summary !== undefined && key !== undefined) {
    const [timeMs = intake.timeMs, by] = [asTimeMs(summary["timestamp"]), modelNameIn(summary, "model")];
    const request = { key, timeMs, purpose: "compaction", by, isOfTwo: summary["isOfTwo"] === true } as const;
    return paidEntries(summary["usage"], request, promptOf(extension));
  }
  const message = event["type"] === "message_end" ? asObject(event["message"]) : undefined;
  if (message?.["role"] === "toolResult") {
    const base = promptOf(extension);
    return toolUsage(message, base, helperEntries(message["details"], "", base));
  }
  if (message?.["role"] !== "assistant") return [];
  // Whether a failed request is repeated shows later: in the session's file
  if (isRetryable(message) && extension?.["is_final"] === undefined) return [];
  const failures = extension?.["is_final"] === true ? MAX_RETRIES : 0;
  return answerEntries(message, asCount(extension?.["at"]) ?? intake.timeMs, promptOf(extension), failures);
}

// --- internal ---

type Fields = Readonly<Record<string, unknown>>;
type EventParts = Pick<PayloadEvent, "type"> & Partial<PayloadEvent>;

const partsOf = (payload: unknown) => {
  const p = asObject(payload);
  return { event: asObject(p?.["event"]), context: asObject(p?.["context"]), extension: asObject(p?.["extension"]) };
};

const promptOf = (extension: Fields | undefined): { readonly promptKey?: string } =>
  defined<{ promptKey: string }>({ promptKey: asString(extension?.["prompt_id"]) });

/** The session's new line of a compaction or of a branch that was left. */
const summaryIn = (event: Fields): Fields | undefined =>
  asObject(event["compactionEntry"]) ?? asObject(event["summaryEntry"]);

/** The key of its request, as the line in the session's file gives it. */
function summaryKeyOf(entry: Fields | undefined): string | undefined {
  const [id, timeMs] = [asString(entry?.["id"]), asTimeMs(entry?.["timestamp"])];
  return id === undefined || timeMs === undefined ? undefined : `${id}@${timeMs}`;
}

/**
 * A session without a file is a helper's, which its parent reports. Events that our extension writes are reported in any case,
 * because it names the parent or knows that there is none.
 */
const isReported = (context: Fields, extension: Fields | undefined): boolean =>
  asString(context["session_file"]) !== undefined || extension !== undefined;

function payloadEventOf(payload: unknown): PayloadEvent | undefined {
  const { event, context, extension } = partsOf(payload);
  const native = asString(event?.["type"]);
  const sessionId = asString(context?.["session_id"]);
  if (event === undefined || context === undefined || native === undefined || sessionId === undefined) return undefined;
  if (!isReported(context, extension)) return undefined;
  const parentId = asString(context["parent_session_id"]);
  const parts = parentId === undefined ? sessionEvent(native, event) : helperEvent(native, event, sessionId);
  if (parts === undefined) return undefined;
  return {
    source: SOURCE,
    native,
    session: { id: sessionId },
    cwd: asString(context["cwd"]),
    timeMs: asCount(extension?.["at"]),
    // The context contains the session's last entry; our extension adds a time and a number
    key: payloadDigest({ event, context, extension }),
    ...parts,
    extras: defined<Extras>({
      transcript_path: asString(context["session_file"]),
      agent_version: asString(extension?.["version"]),
      prompt_id: asString(extension?.["prompt_id"]),
      parent_session_id: parentId,
      ...parts.extras,
    }),
  };
}

function sessionEvent(native: string, event: Fields): EventParts | undefined {
  const message = asObject(event["message"]);
  switch (native) {
    case "session_start":
      // The extensions were loaded again, in the same session
      if (event["reason"] === "reload") return undefined;
      return { type: "session.start", extras: defined<Extras>({ start_origin: asCode(event["reason"]) }) };
    case "session_shutdown":
      if (event["reason"] === "reload") return undefined;
      return {
        type: "session.end",
        reason: endReason(event),
        extras: { native_reason: asCode(event["reason"]) ?? "quit" },
      };
    case "session_compact":
      return { type: "compaction" };
    case "message_end":
      if (message?.["role"] === "user") return prompt(message);
      return message === undefined ? undefined : answered(message);
    case "session_tree":
      return summarized(event);
    case "agent_end":
      return turnEnd(event);
    default:
      return toolEvent(native, event);
  }
}

/** The event of a helper that our extension recognised: the helper's session is a part of its parent's. */
function helperEvent(native: string, event: Fields, id: string): EventParts | undefined {
  const message = asObject(event["message"]);
  switch (native) {
    case "helper_start":
      return { type: "subagent.start", key: id, timeMs: asCount(event["timestamp"]), extras: { agent_id: id } };
    case "session_shutdown":
      return { type: "subagent.end" };
    case "message_end":
      return message === undefined ? undefined : answered(message);
    case "session_compact":
    case "session_tree":
      return summarized(event);
    default:
      return toolEvent(native, event);
  }
}

function toolEvent(native: string, event: Fields): EventParts | undefined {
  const callId = asString(event["toolCallId"]);
  const name = asString(event["toolName"]);
  if (callId === undefined || name === undefined) return undefined;
  switch (native) {
    case "tool_execution_start":
      return {
        type: "tool.start",
        ...keyWith(callId),
        tool: { name, callId },
        extras: defined<Extras>({ executable: executableOf(asObject(event["args"])?.["command"]) }),
      };
    // Both report the end; the first has the arguments
    case "tool_result":
    case "tool_execution_end": {
      const content = event["content"] ?? asObject(event["result"])?.["content"];
      const outcome = toolOutcome(event["isError"], content);
      return {
        type: "tool.end",
        native: "tool_execution_end",
        ...keyWith(callId),
        tool: { name, callId, status: outcome.status === "success" ? "success" : "error" },
        extras: defined<Extras>({
          denied: outcome.status === "denied" ? true : undefined,
          exit_code: outcome.exitCode,
          error_type: outcome.errorType,
        }),
      };
    }
    default:
      return undefined;
  }
}

function prompt(message: Message): EventParts | undefined {
  const sentMs = timestampOf(message);
  if (sentMs === undefined) return undefined;
  return {
    type: "prompt.submit",
    key: `user:${sentMs}`,
    timeMs: sentMs,
    promptLength: lengthOf(message),
    extras: { prompt_id: String(sentMs) },
  };
}

function answered(message: Message): EventParts | undefined {
  const key = message["role"] === "assistant" ? answerKeyOf(message) : toolUsageKeyOf(message);
  return key === undefined ? undefined : { type: "model.end", key: `answer:${key}` };
}

/** A summary was requested. */
function summarized(event: Fields): EventParts | undefined {
  const key = summaryKeyOf(summaryIn(event));
  return key === undefined ? undefined : { type: "model.end", key: `answer:${key}` };
}

/** A run of the agent ended. After a failure that pi repeats, another run follows; our extension waits for it. */
function turnEnd(event: Fields): EventParts | undefined {
  const messages = messagesIn(event["messages"]);
  const last = messages.findLast((message) => message["role"] === "assistant");
  if (last?.["stopReason"] !== "error") return { type: "turn.end" };
  if (isRetryable(last) && event["is_final"] !== true) return undefined;
  const { errorType, httpStatus } = errorOf(last);
  return {
    type: "turn.error",
    extras: { error_type: errorType, ...(httpStatus !== undefined && { http_status: httpStatus }) },
  };
}

const endReason = (event: Fields): SessionEndReason => (event["reason"] === "quit" ? "completed" : "user_exit");

/** A numbered id, which later calls share, is replaced by the payload's own key. */
const keyWith = (callId: string): { key?: string } => (isSequenceNumber(callId) ? {} : { key: callId });
