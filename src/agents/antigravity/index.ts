import type { Agent } from "#core/model/agent.ts";
import { adapter, toContent } from "./adapter.ts";
import { ANTIGRAVITY_NAMES } from "./own-names.ts";

export default {
  ...adapter,
  title: "Antigravity",
  docs: "https://antigravity.google/docs/hooks",
  tokens: "none",
  capabilities: {
    basis: "documented",
    subagents: false,
    sessionIds: "native",
    callIds: "native",
    eventIds: "arrival",
  },
  own: ANTIGRAVITY_NAMES,
  toContent,
} satisfies Agent;
