/**
 * The replies that these programs expect, by event. Both contracts have UserPromptSubmit, but only one expects a decision for it;
 * `{}` is neutral in both. For all other events the reply decides whether the agent may continue.
 */
export const REPLIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["sessionStart", "sessionEnd", "stop", "preCompact", "userPromptSubmit", "subagentStart", "subagentStop"]
      .flatMap((name) => [name, name.charAt(0).toUpperCase() + name.slice(1)])
      .map((name) => [name, "{}"]),
  ),
  "*": '{"decision":"allow"}',
};
