// https://opencode.ai/docs/plugins, read 2026-11-21
import { isAbsolute, join } from "node:path";
import type { Installer, InstallTarget } from "#core/model/installer.ts";
import { pluginInstaller } from "../plugin/installer.ts";
import shared from "./plugin.js?raw";
import type { Variant } from "./variant.ts";

/**
 * The installer of one of OpenCode's variants. It has no command hooks; it loads plugins into its process.
 *
 * @param plugin the text of the variant's own plugin module
 */
export const installerOf = ({ source }: Variant, plugin: string): Installer =>
  pluginInstaller({
    source,
    modules: [shared, plugin],
    hooks: ["chat.message", "tool.execute.before", "tool.execute.after", "event", "dispose"],
    path(scope, target) {
      const folder = scope === "user" ? configDirOf(source, target) : join(target.project, `.${source}`);
      return join(folder, "plugins", "openhook-otel.js");
    },
    folder: (target) => configDirOf(source, target),
  });

// --- internal ---

function configDirOf(source: string, { home, env }: InstallTarget): string {
  const moved = env["XDG_CONFIG_HOME"];
  return join(moved !== undefined && isAbsolute(moved) ? moved : join(home, ".config"), source);
}
