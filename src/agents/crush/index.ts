import type { Agent } from "../../model/agent.ts";
import { CLAUDE_NAMES } from "../shared/names/own-names.ts";
import { emitsOf } from "../shared/payload/claude-like.ts";
import { hookContent } from "../shared/payload/content.ts";
import { EVENTS, recognises, SOURCE, toEvents } from "./adapter.ts";
import { KNOWN } from "./known.ts";

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
  own: CLAUDE_NAMES,
  known: KNOWN,
  environment: ["CRUSH", "CRUSH_SESSION_ID"],
  recognises,
  toContent: hookContent,
  toEvents,
} satisfies Agent;
