// https://qwenlm.github.io/qwen-code-docs/en/users/features/hooks/ and the program 0.24.4, read 2026-11-26

import { platform } from "node:os";
import { join } from "node:path";
import type { Finding, InstallTarget, SettingsText } from "#core/model/installer.ts";
import { effectiveSwitch, isTrusted, type Layer, layersOf, readSettings } from "../shared/gemini/settings.ts";
import { detectBy } from "../shared/settings/detect.ts";
import { settingsHooks } from "../shared/settings/settings-hooks.ts";
import { adapter } from "./adapter.ts";
import { folderOf, settingsPath, systemSettingsPath } from "./settings.ts";

/** The hook's name in the agent's own list of hooks. */
const HOOK_NAME = "openhook-otel";

/** Keys under `hooks` that are no events. */
const NOT_EVENTS: readonly string[] = ["enabled", "disabled", "notifications"];

export default settingsHooks({
  /**
   * An unknown name only causes a warning.
   *
   * Not registered: MessageDisplay, InstructionsLoaded, PostCompact, the events of todos and SessionDelete, which a trace does not
   * need; PermissionRequest and Notification, which only say that the user was asked.
   */
  adapter,
  path: settingsPath,
  // Without a matcher a hook runs for every tool and every origin. No time limit: versions disagree about its unit
  entry: (line) => ({ type: "command", name: HOOK_NAME, command: line }),
  notEvents: NOT_EVENTS,
  check,
  // https://qwenlm.github.io/qwen-code-docs/en/users/configuration/settings: the system settings file; 0.24.4 ran its hooks and
  // the user's on 2026-11-27
  managedPath: (platform) => systemSettingsPath({ env: {} }, platform),
  detect: detectBy("qwen", (target) => [join(folderOf(target), "settings.json")]),
});

// --- internal ---

/** Reports why registered hooks do not run: a switch in any settings file, or an untrusted folder for the project's hooks. */
async function check(files: readonly SettingsText[], target: InstallTarget): Promise<readonly Finding[]> {
  const [userPath, projectPath] = [settingsPath("user", target), settingsPath("project", target)];
  // Ascending precedence
  const layers = await layersOf([userPath, projectPath, systemSettingsPath(target, platform())]);
  const inProject = files.some(({ path }) => path === projectPath) && projectPath !== userPath;
  return [...switchedOff(layers), ...(inProject ? await untrusted(layers, projectPath, target) : [])];
}

function switchedOff(layers: readonly Layer[]): readonly Finding[] {
  const off = effectiveSwitch(layers, ["disableAllHooks"]);
  if (off?.value !== true) return [];
  return [
    { level: "broken", text: `hooks are switched off: "disableAllHooks" is true in ${off.path}; set it to false` },
  ];
}

/** Every folder is trusted unless the user switched `folderTrust` on. A project's settings cannot switch it off. */
async function untrusted(
  layers: readonly Layer[],
  projectPath: string,
  target: InstallTarget,
): Promise<readonly Finding[]> {
  const own = layers.filter(({ path }) => path !== projectPath);
  if (effectiveSwitch(own, ["security", "folderTrust", "enabled"])?.value !== true) return [];
  const { env, project } = target;
  const path = env["QWEN_CODE_TRUSTED_FOLDERS_PATH"] || join(folderOf(target), "trustedFolders.json");
  if ((await isTrusted(project, await readSettings(path))) === true) return [];
  return [
    {
      level: "broken",
      text: `Qwen Code does not trust ${project} and runs none of its hooks; enter /permissions in it to change that`,
    },
  ];
}
