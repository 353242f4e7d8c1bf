/**
 * Whether an id of a tool call was drawn by lot: those of providers and gateways have 16 characters and more after their
 * prefix. Some providers count theirs from nought instead, in every answer or conversation.
 */
export const isRandomId = (callId: string): boolean => /[A-Za-z0-9]{16}/.test(callId);

/** Whether somebody counts it: a number stands by itself at its end (`Bash:0`). Another conversation has the same. */
export const isCountedId = (callId: string): boolean =>
  !callId.startsWith("toolu_") && /(?:^|[^A-Za-z0-9])\d+$/.test(callId) && !isRandomId(callId);

/**
 * Whether it says no more than which call it is, counted from the beginning: a tool's name or a plain word before its number
 * (`Bash:0`, `call_0`). A subagent, or a conversation behind a compaction, begins anew. One that says more (`call_lint_3`)
 * names its call.
 */
export const isBareCount = (callId: string): boolean =>
  /^(?:[\w.-]*:|(?:call|tool|tool_?call|function)[_-])?\d{1,6}$/i.test(callId);

/** The id of a call whose given one another call had before. @param place tells the two apart, whenever they are read */
export const laterId = (given: string, place: string): string => `${given}#${place}`;

/** Whether a call goes by the id that was given, be it the first or a later one of it. */
export const goesBy = (callId: string, given: string): boolean =>
  callId === given || callId.startsWith(laterId(given, ""));
