/**
 * The replies that these programs expect, by event. UserPromptSubmit belongs to both contracts, one of which has no decision; `{}` is
 * neutral in both. Every other event asks whether the agent may continue.
 */
export const REPLIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["sessionStart", "sessionEnd", "stop", "preCompact", "userPromptSubmit", "subagentStart", "subagentStop"]
      .flatMap((name) => [name, name.charAt(0).toUpperCase() + name.slice(1)])
      .map((name) => [name, "{}"]),
  ),
  "*": '{"decision":"allow"}',
};
