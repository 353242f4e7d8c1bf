import type { Agent } from "../../model/agent.ts";
import { emitsOf } from "../shared/claude-like.ts";
import { EVENTS, recognises, SOURCE, toEvents } from "./adapter.ts";

export default {
  source: SOURCE,
  title: "Crush",
  docs: "https://github.com/charmbracelet/crush/blob/main/docs/hooks/README.md",
  emits: emitsOf(EVENTS),
  tokens: "none",
  capabilities: {
    basis: "documented",
    subagents: false,
    sessionIds: "native",
    callIds: "minted",
    eventIds: "arrival",
  },
  recognises,
  toEvents,
} satisfies Agent;
