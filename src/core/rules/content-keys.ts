/** Key for content that arrives before the fact it belongs to. */
export const pendingKey = (what: string): string => `${PENDING}${what}`;
export const PENDING = "~";

/** Key for the content of the answer with this id, for agents whose answer records hold token counts only. */
export const responseContentKey = (responseId: string): string => pendingKey(`response:${responseId}`);

/** The part of an answer that calls a tool. The arguments are kept with the tool call. */
export const toolCallPart = (id: string, name: string) => ({ type: "tool_call", id, name });
