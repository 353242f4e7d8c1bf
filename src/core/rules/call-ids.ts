import type { Event } from "../model/event-schema.ts";
import { extrasOf } from "./extras.lazy.ts";

/**
 * Whether a tool call's id is random: it has at least 16 characters after its prefix. Some providers number calls from 0
 * instead, in every answer or conversation.
 */
export const isRandomId = (callId: string): boolean => /[A-Za-z0-9]{16}/.test(callId);

/** Whether the id ends with a separate number (`Bash:0`). Other conversations can have the same id. */
export const isNumberedId = (callId: string): boolean =>
  !callId.startsWith("toolu_") && /(?:^|[^A-Za-z0-9])\d+$/.test(callId) && !isRandomId(callId);

/**
 * Whether the id is only a number within the conversation, perhaps after a tool's name or a word such as `call` (`Bash:0`,
 * `call_0`). Subagents, and conversations after a compaction, start again from 0. Other ids (`call_lint_3`) identify a call.
 */
export const isSequenceNumber = (callId: string): boolean =>
  /^(?:[\w.-]*:|(?:call|tool|tool_?call|function)[_-])?\d{1,6}$/i.test(callId);

/** The id of a call whose given id an earlier call has. @param suffix the same at every read, different for each call */
export const repeatedCallId = (given: string, suffix: string): string => `${given}#${suffix}`;

/** The id of a subagent's call, with the agent added if ids restart in each agent; other ids stay as they are. */
export const idInAgent = (given: string, agentId: string | undefined): string =>
  agentId !== undefined && isSequenceNumber(given) ? repeatedCallId(given, agentId) : given;

/** The id without the agent that `idInAgent` added. */
export function idWithoutAgent(callId: string, agentId: string | undefined): string {
  const suffix = agentId === undefined ? undefined : repeatedCallId("", agentId);
  return suffix !== undefined && callId.endsWith(suffix) ? callId.slice(0, -suffix.length) : callId;
}

/** Whether the agent gave a call this id, even if we appended a suffix. */
export const hasGivenId = (callId: string, given: string): boolean =>
  callId === given || callId.startsWith(repeatedCallId(given, ""));

/**
 * The call id of a tool event, if several calls can share it: each agent of a session counts its calls separately, so only
 * agent and id together identify a call. `undefined` if the id is unique or missing.
 */
export function givenIdOf(event: Event): string | undefined {
  if (event.type !== "tool.start" && event.type !== "tool.end") return undefined;
  const callId = event.data?.tool_call_id;
  return extrasOf(event).given_id ?? (callId !== undefined && isSequenceNumber(callId) ? callId : undefined);
}
