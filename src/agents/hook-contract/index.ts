import type { Agent } from "#core/model/agent.ts";
import { CLAUDE_NAMES } from "../shared/names/own-names.ts";
import { adapter, toContent } from "./adapter.ts";

/**
 * The replies that these programs expect, by event. Both contracts have UserPromptSubmit, but only one expects a decision for it;
 * `{}` is neutral in both. For all other events the reply decides whether the agent may continue.
 */
const REPLIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["sessionStart", "sessionEnd", "stop", "preCompact", "userPromptSubmit", "subagentStart", "subagentStop"]
      .flatMap((name) => [name, name.charAt(0).toUpperCase() + name.slice(1)])
      .map((name) => [name, "{}"]),
  ),
  "*": '{"decision":"allow"}',
};

/** Programs that follow one of the two public hook contracts. */
export default {
  ...adapter,
  title: "Any program with a common hook contract",
  docs: "src/agents/hook-contract/README.md",
  // Only one of the contracts has a session end
  endsSilently: true,
  tokens: "none",
  capabilities: {
    basis: "documented",
    subagents: false,
    sessionIds: "minted",
    callIds: "minted",
    eventIds: "arrival",
  },
  own: CLAUDE_NAMES,
  replies: REPLIES,
  toContent,
} satisfies Agent;
