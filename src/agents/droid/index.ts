import type { Agent } from "../../model/agent.ts";
import { emitsOf } from "../shared/claude-like.ts";
import { EVENTS, recognises, SOURCE, toEvents } from "./adapter.ts";

export default {
  source: SOURCE,
  title: "Factory Droid",
  docs: "https://docs.factory.ai/reference/hooks-reference",
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
