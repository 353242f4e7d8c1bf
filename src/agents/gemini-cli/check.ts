import { realpath } from "node:fs/promises";
import { platform } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import type { Finding, InstallTarget, SettingsText } from "../../model/agent.ts";
import { asArray, asObject, asString } from "../shared/payload/json.ts";
import { compareVersions, versionOf } from "../shared/payload/version.ts";
import { isOurCommand } from "../shared/settings/settings.ts";
import { HOOK_NAME, homeOf, readSettings, settingsPath, systemSettingsPath } from "./settings.ts";

/** Reports why registered hooks do not run: a switch in any settings file, an untrusted folder, an old version. */
export async function check(files: readonly SettingsText[], target: InstallTarget): Promise<readonly Finding[]> {
  const projectPath = settingsPath("project", target);
  // Ascending precedence
  const paths = [...new Set([settingsPath("user", target), projectPath, systemSettingsPath(target, platform())])];
  const layers: Layer[] = [];
  for (const path of paths) {
    const settings = await readSettings(path);
    if (settings !== undefined) layers.push({ path, settings });
  }
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

interface Layer {
  readonly path: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** The value from the layer with the highest precedence that sets it. */
function effectiveSwitch(layers: readonly Layer[], group: string, key: string) {
  const layer = layers.filter(({ settings }) => typeof asObject(settings[group])?.[key] === "boolean").at(-1);
  return layer === undefined ? undefined : { path: layer.path, value: asObject(layer.settings[group])?.[key] === true };
}

function switchedOff(layers: readonly Layer[]): readonly Finding[] {
  const enabled = effectiveSwitch(layers, "hooksConfig", "enabled");
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
  const trustEnabled = layers
    .map(({ settings }) => asObject(asObject(settings["security"])?.["folderTrust"])?.["enabled"])
    .filter((value) => typeof value === "boolean")
    .at(-1);
  if (!isRestricted && trustEnabled === false) return [];
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

/** The rule with the longest matching path applies; `undefined` if none matches the folder. */
async function isTrusted(folder: string, rules: Readonly<Record<string, unknown>> | undefined) {
  const real = await realPath(folder);
  let longest = -1;
  let trusted: boolean | undefined;
  for (const [path, level] of Object.entries(rules ?? {})) {
    const root = await realPath(level === "TRUST_PARENT" ? dirname(path) : path);
    const relativePath = relative(root, real);
    if (
      relativePath === ".." ||
      relativePath.startsWith(`..${sep}`) ||
      root.length <= longest ||
      asString(level) === undefined
    )
      continue;
    longest = root.length;
    trusted = level !== "DO_NOT_TRUST";
  }
  return trusted;
}

const realPath = (path: string): Promise<string> => realpath(path).catch(() => path);

/** Hooks were experimental first. 0.26.0 is the first version that runs them by default. */
function tooOld(layers: readonly Layer[], version: string | undefined): readonly Finding[] {
  if (version === undefined || compareVersions(version, "0.27.0") >= 0) return [];
  const experiment = effectiveSwitch(layers, "tools", "enableHooks");
  const enabled = effectiveSwitch(layers, "hooks", "enabled");
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
