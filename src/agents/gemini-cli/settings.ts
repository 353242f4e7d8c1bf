import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { InstallTarget } from "../../model/agent.ts";
import { asObject } from "../shared/payload/json.ts";
import { JsoncError, parseDocument, plainOf } from "../shared/settings/jsonc.ts";

/** What the agent shows of our hook, and what its user can switch it off by. */
export const HOOK_NAME = "openhook-otel";

/** What older versions kept under `hooks` beside the events. */
export const NOT_EVENTS: readonly string[] = ["enabled", "disabled", "notifications"];

/** Where the agent looks for `.gemini`. */
export function homeOf({ home, project, env }: InstallTarget): string {
  const moved = env["GEMINI_CLI_HOME"];
  return moved === undefined || moved === "" ? home : resolve(project, moved);
}

export const settingsPath = (scope: "user" | "project", target: InstallTarget): string =>
  join(scope === "project" ? target.project : homeOf(target), ".gemini", "settings.json");

/** The machine's own settings, which win over everything. */
export function systemSettingsPath({ env }: InstallTarget, platform: NodeJS.Platform): string {
  const told = env["GEMINI_CLI_SYSTEM_SETTINGS_PATH"];
  if (told !== undefined && told !== "") return told;
  if (platform === "darwin") return "/Library/Application Support/GeminiCli/settings.json";
  return platform === "win32" ? "C:\\ProgramData\\gemini-cli\\settings.json" : "/etc/gemini-cli/settings.json";
}

/** A settings file's value; `undefined` when there is none, or none that can be read. */
export async function readSettings(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return asObject(plainOf(parseDocument(text.replace(/^\uFEFF/, ""))));
  } catch (error) {
    if (error instanceof JsoncError) return undefined;
    throw error;
  }
}
