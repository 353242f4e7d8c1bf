import type { Agent } from "#core/model/agent.ts";
import { emitsOf } from "../shared/payload/claude-like.ts";
import { EVENTS, recognises, SOURCE, toEvents } from "./adapter.ts";
import { toContent } from "./content.ts";
import { KNOWN } from "./known.ts";
import { ANTIGRAVITY_NAMES } from "./own-names.ts";

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
  own: ANTIGRAVITY_NAMES,
  known: KNOWN,
  recognises,
  toContent,
  toEvents,
} satisfies Agent;
