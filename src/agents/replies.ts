import { REPLIES } from "./intake.const.ts";

/**
 * What the hook prints for an event, as the agent's card says.
 *
 * @param source the agent's name on the command line
 * @param event the event's name on the command line, if any
 * @returns the exact bytes without the newline; `undefined`: print nothing
 */
export function replyOf(source: string, event: string | undefined): string | undefined {
  if (!Object.hasOwn(REPLIES, source)) return undefined;
  const replies = REPLIES[source] ?? {};
  return event !== undefined && Object.hasOwn(replies, event) ? replies[event] : replies["*"];
}
