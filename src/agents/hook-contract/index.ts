import type { Agent } from "#core/model/agent.ts";
import { CLAUDE_NAMES } from "../shared/names/own-names.ts";
import { adapter } from "./adapter.ts";
import { toContent } from "./content.ts";
import { REPLIES } from "./replies.ts";

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
