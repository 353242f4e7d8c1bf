import { join, resolve } from "node:path";
import type { InstallTarget } from "#core/model/installer.ts";

/** `~/.claude`, or the folder in `CLAUDE_CONFIG_DIR`. */
export function configDirOf({ home, project, env }: InstallTarget): string {
  const moved = env["CLAUDE_CONFIG_DIR"];
  return moved === undefined || moved === "" ? join(home, ".claude") : resolve(project, moved);
}

export const settingsPath = (scope: "user" | "project", target: InstallTarget): string =>
  join(scope === "project" ? join(target.project, ".claude") : configDirOf(target), "settings.json");
