// docs/extensions.md of @mariozechner/pi-coding-agent 0.73.1 and recordings, read 2026-11-26

import type { Recognition } from "#core/model/agent.ts";
import type { SessionEndReason } from "#core/model/envelope.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { defined } from "#kit/objects.ts";
import { executableOf } from "../shared/names/executables.ts";
import { type Frame, type FramedMembers, type FramedTable, framedAdapter } from "../shared/payload/framed-adapter.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asCode, asCount, asObject, asString, asTimeMs, type Fields } from "../shared/payload/json.ts";
import { helperEntries } from "./helpers.ts";
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

const SOURCE = "pi";

const EVENTS = {
  helper_start: {
    type: "subagent.start",
    read: ({ event, session: { id } }) => ({
      key: id,
      timeMs: asCount(event["timestamp"]),
      extras: { agent_id: id },
    }),
  },
  session_start: {
    type: "session.start",
    or: ["nothing"],
    read: ({ event, isHelper }) =>
      isHelper || isReload(event) ? undefined : { extras: { start_origin: asCode(event["reason"]) } },
  },
  session_shutdown: {
    type: "session.end",
    or: ["subagent.end", "nothing"],
    read({ event, isHelper }) {
      if (isHelper) return { type: "subagent.end" };
      if (isReload(event)) return undefined;
      return { reason: endReason(event), extras: { native_reason: asCode(event["reason"]) ?? "quit" } };
    },
  },
  session_compact: {
    type: "compaction",
    or: ["model.end", "nothing"],
    read: ({ event, isHelper }) => (isHelper ? summarized(event) : {}),
  },
  session_tree: { type: "model.end", or: ["nothing"], read: ({ event }) => summarized(event) },
  message_end: {
    type: "model.end",
    or: ["prompt.submit", "nothing"],
    read({ event, isHelper }) {
      const message = asObject(event["message"]);
      if (message === undefined) return undefined;
      return message["role"] === "user" && !isHelper ? prompt(message) : answered(message);
    },
  },
  agent_end: {
    type: "turn.end",
    or: ["turn.error", "nothing"],
    read: ({ event, isHelper }) => (isHelper ? undefined : turnEnd(event)),
  },
  tool_execution_start: { type: "tool.start", or: ["nothing"], read: toolStart },
  tool_execution_end: { type: "tool.end", or: ["nothing"], read: toolEnd },
  // Both report the end; this one has the arguments
  tool_result: { type: "tool.end", or: ["nothing"], read: toolEnd },
} as const satisfies FramedTable<Payload>;

/** Names of events that give something. */
export type NativeName = keyof typeof EVENTS;

export const adapter = framedAdapter({
  source: SOURCE,
  recognises,
  events: EVENTS,
  // Not needed, or of helpers that our extension did not mark
  notNeeded: `resources_discover session_before_switch session_before_fork session_before_compact session_before_tree
    session_info before_agent_start agent_start turn_start turn_end message_start message_update tool_execution_update
    context before_provider_request after_provider_response model_select thinking_level_select tool_call user_bash input
    agent_before_settle agent_settled before_provider_headers cache_warming_decision project_trust session_compact_failed
    session_info_changed context_with_system mcp_servers_change provider_stream_event ui_prompt_start ui_prompt_end`,
  fields: "event context extension",
  nameOf: (payload, intake) => asString(partsOf(payload).event?.["type"]) ?? intake.event,
  frameOf,
});

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

interface Payload extends Frame {
  readonly event: Fields;
  /** A helper that our extension recognised: its session is a part of its parent's. */
  readonly isHelper: boolean;
}

/** Recognises what an extension passes on: pi's event, and the members of its context that identify the session. */
function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const { event, context } = partsOf(payload);
  const type = asString(event?.["type"]);
  if (event === undefined || context === undefined || type === undefined) return "no";
  if (asString(context["session_id"]) !== undefined && adapter.known.events.includes(type)) return "certain";
  return intake.source === SOURCE ? "possible" : "no";
}

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

function frameOf(payload: unknown): Payload | undefined {
  const { event, context, extension } = partsOf(payload);
  const native = asString(event?.["type"]);
  const sessionId = asString(context?.["session_id"]);
  if (event === undefined || context === undefined || native === undefined || sessionId === undefined) return undefined;
  if (!isReported(context, extension)) return undefined;
  const parentId = asString(context["parent_session_id"]);
  if (native === "helper_start" && parentId === undefined) return undefined;
  return {
    event,
    isHelper: parentId !== undefined,
    native,
    session: { id: sessionId },
    cwd: asString(context["cwd"]),
    timeMs: asCount(extension?.["at"]),
    // The context contains the session's last entry; our extension adds a time and a number
    key: payloadDigest({ event, context, extension }),
    extras: {
      transcript_path: asString(context["session_file"]),
      agent_version: asString(extension?.["version"]),
      prompt_id: asString(extension?.["prompt_id"]),
      parent_session_id: parentId,
    },
  };
}

/** The extensions were loaded again, in the same session. */
const isReload = (event: Fields): boolean => event["reason"] === "reload";

function toolStart({ event }: Payload): FramedMembers | undefined {
  const callId = asString(event["toolCallId"]);
  const name = asString(event["toolName"]);
  if (callId === undefined || name === undefined) return undefined;
  const executable = executableOf(asObject(event["args"])?.["command"]);
  return { key: keyOf(callId), tool: { name, callId }, extras: { executable } };
}

function toolEnd({ event }: Payload): FramedMembers | undefined {
  const callId = asString(event["toolCallId"]);
  const name = asString(event["toolName"]);
  if (callId === undefined || name === undefined) return undefined;
  const outcome = toolOutcome(event["isError"], event["content"] ?? asObject(event["result"])?.["content"]);
  return {
    native: "tool_execution_end",
    key: keyOf(callId),
    tool: { name, callId, status: outcome.status === "success" ? "success" : "error" },
    extras: {
      denied: outcome.status === "denied" ? true : undefined,
      exit_code: outcome.exitCode,
      error_type: outcome.errorType,
    },
  };
}

function prompt(message: Message): FramedMembers | undefined {
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

function answered(message: Message): FramedMembers | undefined {
  const key = message["role"] === "assistant" ? answerKeyOf(message) : toolUsageKeyOf(message);
  return key === undefined ? undefined : { type: "model.end", key: `answer:${key}` };
}

/** A summary was requested. */
function summarized(event: Fields): FramedMembers | undefined {
  const key = summaryKeyOf(summaryIn(event));
  return key === undefined ? undefined : { type: "model.end", key: `answer:${key}` };
}

/** A run of the agent ended. After a failure that pi repeats, another run follows; our extension waits for it. */
function turnEnd(event: Fields): FramedMembers | undefined {
  const messages = messagesIn(event["messages"]);
  const last = messages.findLast((message) => message["role"] === "assistant");
  if (last?.["stopReason"] !== "error") return {};
  if (isRetryable(last) && event["is_final"] !== true) return undefined;
  const { errorType, httpStatus } = errorOf(last);
  return {
    type: "turn.error",
    extras: { error_type: errorType, ...(httpStatus !== undefined && { http_status: httpStatus }) },
  };
}

const endReason = (event: Fields): SessionEndReason => (event["reason"] === "quit" ? "completed" : "user_exit");

/** A numbered id, which later calls share, is replaced by the payload's own key. */
const keyOf = (callId: string): string | undefined => (isSequenceNumber(callId) ? undefined : callId);
