import type { Agent } from "../../model/agent.ts";
import { EMITS, recognises, SOURCE, toEvents } from "./adapter.ts";

/** Programs that follow one of the two public hook contracts, and no agent's own payloads. */
export default {
  source: SOURCE,
  title: "Any program with a common hook contract",
  docs: "src/agents/hook-contract/README.md",
  emits: EMITS,
  tokens: "none",
  capabilities: {
    basis: "documented",
    subagents: false,
    sessionIds: "minted",
    callIds: "minted",
    eventIds: "arrival",
  },
  recognises,
  toEvents,
} satisfies Agent;
