import type { Agent } from "#core/model/agent.ts";
import { OPENCODE_NAMES, words } from "../shared/names/own-names.ts";
import { variantCard } from "../shared/opencode/card.ts";
import { VARIANT } from "./variant.ts";

export default variantCard(VARIANT, {
  docs: "https://kilo.ai/docs/automate/extending/plugins",
  versions: "7.7.7 to 7.7.9",
  own: {
    tools: OPENCODE_NAMES.tools,
    agentTypes: [...OPENCODE_NAMES.agentTypes, ...words("ask code debug orchestrator")],
  },
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
}) satisfies Agent;
