import type { Agent } from "../../model/agent.ts";
import { emitsOf } from "../shared/claude-like.ts";
import { EVENTS, recognises, SOURCE, toEvents } from "./adapter.ts";

export default {
  source: SOURCE,
  title: "Antigravity",
  docs: "https://antigravity.google/docs/hooks",
  emits: emitsOf(EVENTS),
  tokens: "none",
  capabilities: {
    basis: "documented",
    subagents: false,
    sessionIds: "native",
    callIds: "native",
    eventIds: "arrival",
  },
  recognises,
  toEvents,
} satisfies Agent;
