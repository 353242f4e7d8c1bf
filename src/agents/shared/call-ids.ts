/**
 * Whether an id of a tool call was drawn by lot: those of providers and gateways have 16 characters and more after their
 * prefix. Some providers count theirs from nought instead, in every answer or conversation.
 */
export const isRandomId = (callId: string): boolean => /[A-Za-z0-9]{16}/.test(callId);
