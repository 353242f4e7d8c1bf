import { platform } from "node:os";
import { join } from "node:path";
import type { Finding, InstallTarget, SettingsText } from "#core/model/installer.ts";
import { effectiveSwitch, isTrusted, type Layer, layersOf, readSettings } from "../shared/gemini/settings.ts";
import { asArray, asObject } from "../shared/payload/json.ts";
import { compareVersions, versionOf } from "../shared/payload/version.ts";
import { isOurCommand } from "../shared/settings/settings.ts";
import { HOOK_NAME, homeOf, settingsPath, systemSettingsPath } from "./settings.ts";

/** Reports why registered hooks do not run: a switch in any settings file, an untrusted folder, an old version. */
export async function check(files: readonly SettingsText[], target: InstallTarget): Promise<readonly Finding[]> {
  const projectPath = settingsPath("project", target);
  // Ascending precedence
  const paths = [settingsPath("user", target), projectPath, systemSettingsPath(target, platform())];
  const layers = await layersOf(paths);
  const inProject = files.some((file) => file.path === projectPath) && projectPath !== settingsPath("user", target);
  return [
    ...switchedOff(layers),
    ...disabledByName(layers),
    ...(await untrusted(
      layers.filter(({ path }) => path !== projectPath || !inProject),
      target,
      inProject,
    )),
    ...tooOld(layers, await versionOf("gemini", target.env)),
  ];
}

// --- internal ---

function switchedOff(layers: readonly Layer[]): readonly Finding[] {
  const enabled = effectiveSwitch(layers, ["hooksConfig", "enabled"]);
  if (enabled === undefined || enabled.value) return [];
  return [
    {
      level: "broken",
      text: `hooks are switched off: "hooksConfig.enabled" is false in ${enabled.path}; set it to true`,
    },
  ];
}

/** The `disabled` lists of all layers apply. They contain hook names or whole command lines. */
function disabledByName(layers: readonly Layer[]): readonly Finding[] {
  return layers.flatMap(({ path, settings }): Finding[] => {
    const lists = [asObject(settings["hooksConfig"])?.["disabled"], asObject(settings["hooks"])?.["disabled"]];
    const ours = lists
      .flatMap((list) => asArray(list))
      .some((name) => name === HOOK_NAME || (typeof name === "string" && isOurCommand(name)));
    if (!ours) return [];
    return [
      {
        level: "broken",
        text: `our hook is in the list of disabled hooks in ${path}; enter /hooks enable ${HOOK_NAME} in Gemini CLI`,
      },
    ];
  });
}

/** In an untrusted folder no hook runs, not even one from the user's settings. */
async function untrusted(
  layers: readonly Layer[],
  target: InstallTarget,
  inProject: boolean,
): Promise<readonly Finding[]> {
  const { env, project } = target;
  const forced = env["GEMINI_CLI_TRUST_WORKSPACE"];
  const isRestricted = env["GEMINI_RESTRICTED_MODE"] === "true" || forced === "false";
  if (!isRestricted && forced === "true") return [];
  const trustEnabled = effectiveSwitch(layers, ["security", "folderTrust", "enabled"]);
  if (!isRestricted && trustEnabled?.value === false) return [];
  const trusted = isRestricted ? false : await isTrusted(project, await readSettings(trustPath(target)));
  if (trusted === true || (trusted === undefined && !inProject)) return [];
  return [
    {
      level: inProject ? "broken" : "remark",
      text: `Gemini CLI does not trust ${project} and runs no hooks there; enter /permissions in it to change that`,
    },
  ];
}

function trustPath(target: InstallTarget): string {
  const path = target.env["GEMINI_CLI_TRUSTED_FOLDERS_PATH"];
  return path === undefined || path === "" ? join(homeOf(target), ".gemini", "trustedFolders.json") : path;
}

/** Hooks were experimental first. 0.26.0 runs them by default, and is the last version that `tools.enableHooks` can stop. */
function tooOld(layers: readonly Layer[], version: string | undefined): readonly Finding[] {
  if (version === undefined || compareVersions(version, "0.27.0") >= 0) return [];
  const experiment = effectiveSwitch(layers, ["tools", "enableHooks"]);
  const enabled = effectiveSwitch(layers, ["hooks", "enabled"]);
  if (experiment?.value === false)
    return [{ level: "broken", text: `hooks are switched off: "tools.enableHooks" is false in ${experiment.path}` }];
  if (compareVersions(version, "0.26.0") >= 0 || experiment?.value === true || enabled?.value === true) return [];
  return [
    {
      level: "broken",
      text: `Gemini CLI ${version} runs hooks only if "tools.enableHooks" and "hooks.enabled" are true in its settings; 0.26.0 needs neither`,
    },
  ];
}
