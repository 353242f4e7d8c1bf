import { join, resolve } from "node:path";
import type { InstallTarget } from "#core/model/installer.ts";

/** `~/.qwen`, or the folder that replaces it. */
export function folderOf({ home, project, env }: InstallTarget): string {
  const moved = env["QWEN_HOME"];
  return moved === undefined || moved === "" ? join(home, ".qwen") : resolve(project, moved);
}

export function settingsPath(scope: "user" | "project", target: InstallTarget): string {
  return join(scope === "project" ? join(target.project, ".qwen") : folderOf(target), "settings.json");
}

/** The settings of the machine, which have the highest precedence. */
export function systemSettingsPath({ env }: Pick<InstallTarget, "env">, platform: NodeJS.Platform): string {
  const configured = env["QWEN_CODE_SYSTEM_SETTINGS_PATH"];
  if (configured !== undefined && configured !== "") return configured;
  if (platform === "darwin") return "/Library/Application Support/QwenCode/settings.json";
  return platform === "win32" ? "C:\\ProgramData\\qwen-code\\settings.json" : "/etc/qwen-code/settings.json";
}
