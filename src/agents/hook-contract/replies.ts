/**
 * What these programs wait for, by event. UserPromptSubmit belongs to two contracts, of which one has no decision; `{}` is
 * neutral in both. Every other event is a question whether the agent may go on.
 */
export const REPLIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["sessionStart", "sessionEnd", "stop", "preCompact", "userPromptSubmit", "subagentStart", "subagentStop"]
      .flatMap((name) => [name, name.charAt(0).toUpperCase() + name.slice(1)])
      .map((name) => [name, "{}"]),
  ),
  "*": '{"decision":"allow"}',
};
