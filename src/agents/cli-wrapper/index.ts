import type { Agent } from "#core/model/agent.ts";
import { recognises, SOURCE, toEvents } from "./adapter.ts";
import { toContent } from "./content.ts";
import { KNOWN } from "./known.ts";

/** Command-line programs run by our wrapper, or by one with the same payload. */
export default {
  source: SOURCE,
  title: "Wrapped command-line programs",
  otherNames: ["gh", "aws", "kubectl", "docker"],
  docs: "src/agents/cli-wrapper/README.md",
  emits: ["tool.start", "tool.end"],
  tokens: "none",
  callsModels: false,
  capabilities: {
    basis: "recorded",
    subagents: false,
    sessionIds: "minted",
    callIds: "minted",
    eventIds: "payload",
  },
  known: KNOWN,
  environment: ["OPENHOOK_SESSION_ID"],
  recognises,
  toContent,
  toEvents,
} satisfies Agent;
