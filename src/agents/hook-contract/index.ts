import type { Agent } from "#core/model/agent.ts";
import { CLAUDE_NAMES } from "../shared/names/own-names.ts";
import { EMITS, recognises, SOURCE, toEvents } from "./adapter.ts";
import { toContent } from "./content.ts";
import { KNOWN } from "./known.ts";
import { REPLIES } from "./replies.ts";

/** Programs that follow one of the two public hook contracts. */
export default {
  source: SOURCE,
  title: "Any program with a common hook contract",
  docs: "src/agents/hook-contract/README.md",
  emits: EMITS,
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
  known: KNOWN,
  replies: REPLIES,
  recognises,
  toContent,
  toEvents,
} satisfies Agent;
