import type { Agent } from "#core/model/agent.ts";
import { OPENCODE_NAMES } from "../shared/names/own-names.ts";
import { variantCard } from "../shared/opencode/card.ts";
import { VARIANT } from "./variant.ts";

export default variantCard(VARIANT, {
  docs: "https://opencode.ai/docs/plugins",
  versions: "1.2.27 to 1.18.33",
  own: OPENCODE_NAMES,
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
  nativeExport: () => import("./native-export.ts"),
  mcpServer: () => import("./mcp-server.ts"),
  configured: () => import("./configured.ts"),
  native: () => import("./native.ts"),
}) satisfies Agent;
