import { type Event, extrasOf } from "./event.ts";

/**
 * Whether a tool call's id is random: random ids have at least 16 characters after their prefix. Some providers number calls
 * from 0 instead, in every answer or conversation.
 */
export const isRandomId = (callId: string): boolean => /[A-Za-z0-9]{16}/.test(callId);

/** Whether the id is numbered: a separate number at its end (`Bash:0`). Other conversations have the same id. */
export const isCountedId = (callId: string): boolean =>
  !callId.startsWith("toolu_") && /(?:^|[^A-Za-z0-9])\d+$/.test(callId) && !isRandomId(callId);

/**
 * Whether the id is nothing but a number within the conversation: a tool's name or a plain word before it (`Bash:0`, `call_0`). A
 * subagent, or a conversation after a compaction, starts again. An id that says more (`call_lint_3`) identifies its call.
 */
export const isBareCount = (callId: string): boolean =>
  /^(?:[\w.-]*:|(?:call|tool|tool_?call|function)[_-])?\d{1,6}$/i.test(callId);

/** The id of a call whose given id another call had before. @param place distinguishes them, whenever they are read */
export const laterId = (given: string, place: string): string => `${given}#${place}`;

/** The id of a subagent's call whose given id restarts in each agent; other ids stay as they are. */
export const idInAgent = (given: string, agentId: string | undefined): string =>
  agentId !== undefined && isBareCount(given) ? laterId(given, agentId) : given;

/** The id without the agent that `idInAgent` added. */
export function idWithoutAgent(callId: string, agentId: string | undefined): string {
  const suffix = agentId === undefined ? undefined : laterId("", agentId);
  return suffix !== undefined && callId.endsWith(suffix) ? callId.slice(0, -suffix.length) : callId;
}

/** Whether a call has the given id, for the first time or again. */
export const goesBy = (callId: string, given: string): boolean =>
  callId === given || callId.startsWith(laterId(given, ""));

/**
 * The call id of a tool event, if several calls can share it: each agent of a session counts its calls separately, so only
 * agent and id together name a call. `undefined` if the id names one call, or there is none.
 */
export function givenIdOf(event: Event): string | undefined {
  if (event.type !== "tool.start" && event.type !== "tool.end") return undefined;
  const callId = event.data?.tool_call_id;
  return extrasOf(event).given_id ?? (callId !== undefined && isBareCount(callId) ? callId : undefined);
}
