import type { Agent } from "../../model/agent.ts";
import { recognises, SOURCE, toEvents } from "./adapter.ts";

export default {
  source: SOURCE,
  title: "Windsurf (Cascade)",
  docs: "https://docs.windsurf.com/windsurf/cascade/hooks",
  emits: ["prompt.submit", "tool.start", "tool.end", "turn.end"],
  tokens: "none",
  capabilities: {
    basis: "documented",
    subagents: false,
    sessionIds: "native",
    callIds: "minted",
    eventIds: "payload",
  },
  recognises,
  toEvents,
} satisfies Agent;
