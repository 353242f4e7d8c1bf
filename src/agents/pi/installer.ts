// docs/extensions.md of 0.73.1, read 2026-11-26
import { join } from "node:path";
import type { InstallTarget } from "#core/model/installer.ts";
import { pluginInstaller } from "../shared/plugin/installer.ts";
import type { NativeName } from "./adapter.ts";
import plugin from "./plugin.js?raw";

/** pi has no command hooks; it loads extensions into its process. */
export default pluginInstaller({
  source: "pi",
  modules: [plugin],
  hooks: [
    "session_start",
    "message_end",
    "tool_execution_start",
    "tool_execution_end",
    "agent_end",
    "session_shutdown",
  ] satisfies readonly NativeName[],
  path(scope, target) {
    const folder = scope === "user" ? agentDirOf(target) : join(target.project, ".pi");
    return join(folder, "extensions", "openhook-otel.js");
  },
  folder: agentDirOf,
});

// --- internal ---

function agentDirOf({ home, env }: InstallTarget): string {
  const moved = env["PI_CODING_AGENT_DIR"];
  if (moved === undefined || moved === "") return join(home, ".pi", "agent");
  return moved === "~" || moved.startsWith("~/") ? join(home, moved.slice(1)) : moved;
}
