/**
 * What the hook prints for each agent that waits for an answer. Agents that are not listed get nothing: to some of them
 * even `{}` is an answer, or a text for the model.
 *
 * By the event's name as the command line gives it; `*` stands for the others.
 */
const REPLIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  cursor: { "*": "{}" },
  // UserPromptSubmit is an event of two contracts, of which one knows no decision; `{}` is neutral in both
  "hook-contract": {
    ...Object.fromEntries(
      ["sessionStart", "sessionEnd", "stop", "preCompact", "userPromptSubmit", "subagentStart", "subagentStop"]
        .flatMap((name) => [name, name.charAt(0).toUpperCase() + name.slice(1)])
        .map((name) => [name, "{}"]),
    ),
    "*": '{"decision":"allow"}',
  },
};

/** @returns the exact bytes without the newline; `undefined`: print nothing */
export function replyOf(source: string, event: string | undefined): string | undefined {
  if (!Object.hasOwn(REPLIES, source)) return undefined;
  const replies = REPLIES[source] ?? {};
  return event !== undefined && Object.hasOwn(replies, event) ? replies[event] : replies["*"];
}
