import { platform } from "node:os";
import { join } from "node:path";
import type { Finding, InstallTarget, SettingsText } from "#core/model/installer.ts";
import { effectiveSwitch, isTrusted, type Layer, layersOf, readSettings } from "../shared/gemini/settings.ts";
import { folderOf, settingsPath, systemSettingsPath } from "./settings.ts";

/** Reports why registered hooks do not run: a switch in any settings file, or an untrusted folder for the project's hooks. */
export async function check(files: readonly SettingsText[], target: InstallTarget): Promise<readonly Finding[]> {
  const [userPath, projectPath] = [settingsPath("user", target), settingsPath("project", target)];
  // Ascending precedence
  const layers = await layersOf([userPath, projectPath, systemSettingsPath(target, platform())]);
  const inProject = files.some(({ path }) => path === projectPath) && projectPath !== userPath;
  return [...switchedOff(layers), ...(inProject ? await untrusted(layers, projectPath, target) : [])];
}

// --- internal ---

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
