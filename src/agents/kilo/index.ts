import type { Agent } from "#core/model/agent.ts";
import { variantCard } from "../shared/opencode/card.ts";
import { KILO_NAMES } from "./own-names.ts";
import { VARIANT } from "./variant.ts";

export default variantCard(VARIANT, {
  docs: "https://kilo.ai/docs/automate/extending/plugins",
  versions: "7.7.7 to 7.7.9",
  own: KILO_NAMES,
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
}) satisfies Agent;
