/** Key for content whose fact is told later. */
export const toCome = (what: string): string => `${TO_COME}${what}`;
export const TO_COME = "~";

/** Key for content of the answer that has this id, where its own record tells the tokens alone. */
export const ofResponse = (responseId: string): string => toCome(`response:${responseId}`);

/** A part of an answer that asks for a tool. Its arguments stand with the tool call itself. */
export const askedTool = (id: string, name: string) => ({ type: "tool_call", id, name });
