import { REPLIES } from "./intake.const.ts";

/**
 * What the hook prints for an event, from the agent's card.
 *
 * @param source the agent's name on the command line
 * @param event the event's name on the command line, if any
 * @returns the exact text without the newline; `undefined`: print nothing
 */
export function replyOf(source: string, event: string | undefined): string | undefined {
  if (!Object.hasOwn(REPLIES, source)) return undefined;
  const replies = REPLIES[source] ?? {};
  return event !== undefined && Object.hasOwn(replies, event) ? replies[event] : replies["*"];
}
