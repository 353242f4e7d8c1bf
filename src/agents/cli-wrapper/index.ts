import type { Agent } from "#core/model/agent.ts";
import { contentOfEvents } from "../shared/payload/content.ts";
import { asArray, asObject } from "../shared/payload/json.ts";
import { adapter } from "./adapter.ts";

/** Command-line programs run by our wrapper, or by one with the same payload. */
export default {
  ...adapter,
  title: "Wrapped command-line programs",
  otherNames: ["gh", "aws", "kubectl", "docker"],
  docs: "src/agents/cli-wrapper/README.md",
  tokens: "none",
  callsModels: false,
  capabilities: {
    basis: "recorded",
    subagents: false,
    sessionIds: "minted",
    callIds: "minted",
    eventIds: "payload",
  },
  environment: ["OPENHOOK_SESSION_ID"],
  // The arguments. The program's output is written directly to the user's terminal, so it is unknown
  toContent: (payload, { events }) =>
    contentOfEvents(events, { arguments: { args: asArray(asObject(payload)?.["args"]) } }),
} satisfies Agent;
