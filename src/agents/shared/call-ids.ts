/**
 * Whether an id of a tool call was drawn by lot: those of providers and gateways have 16 characters and more after their
 * prefix. Some providers count theirs from nought instead, in every answer or conversation.
 */
export const isRandomId = (callId: string): boolean => /[A-Za-z0-9]{16}/.test(callId);

/** Whether somebody counts it: a number stands by itself at its end (`Bash:0`). Another conversation has the same. */
export const isCountedId = (callId: string): boolean =>
  !callId.startsWith("toolu_") && /(?:^|[^A-Za-z0-9])\d+$/.test(callId) && !isRandomId(callId);

/** The id of a call whose given one another call had before. @param place tells the two apart, whenever they are read */
export const laterId = (given: string, place: string): string => `${given}#${place}`;

/** Whether a call goes by the id that was given, be it the first or a later one of it. */
export const goesBy = (callId: string, given: string): boolean =>
  callId === given || callId.startsWith(laterId(given, ""));
