import { join, resolve } from "node:path";
import type { InstallTarget } from "#core/model/installer.ts";

/** The administrator's hooks, in a folder beside the administrator's settings. */
export function policyFile(system: NodeJS.Platform): string {
  return system === "win32"
    ? "C:\\ProgramData\\GitHub\\Copilot\\policy.d\\openhook-otel.json"
    : "/etc/github-copilot/policy.d/openhook-otel.json";
}

/** `~/.copilot`, or the folder that replaces it. */
export function homeOf({ home, project, env }: InstallTarget): string {
  const moved = env["COPILOT_HOME"];
  return moved === undefined || moved === "" ? join(home, ".copilot") : resolve(project, moved);
}
