import { join, resolve } from "node:path";
import type { InstallTarget } from "#core/model/installer.ts";

/** The hook's name in the agent's own list of hooks, with which users can disable it. */
export const HOOK_NAME = "openhook-otel";

/** Keys under `hooks` that are no events, in older versions. */
export const NOT_EVENTS: readonly string[] = ["enabled", "disabled", "notifications"];

/** The folder that contains `.gemini`. */
export function homeOf({ home, project, env }: InstallTarget): string {
  const moved = env["GEMINI_CLI_HOME"];
  return moved === undefined || moved === "" ? home : resolve(project, moved);
}

export const settingsPath = (scope: "user" | "project", target: InstallTarget): string =>
  join(scope === "project" ? target.project : homeOf(target), ".gemini", "settings.json");

/** The settings of the machine, which have the highest precedence. */
export function systemSettingsPath({ env }: Pick<InstallTarget, "env">, platform: NodeJS.Platform): string {
  const configured = env["GEMINI_CLI_SYSTEM_SETTINGS_PATH"];
  if (configured !== undefined && configured !== "") return configured;
  if (platform === "darwin") return "/Library/Application Support/GeminiCli/settings.json";
  return platform === "win32" ? "C:\\ProgramData\\gemini-cli\\settings.json" : "/etc/gemini-cli/settings.json";
}
