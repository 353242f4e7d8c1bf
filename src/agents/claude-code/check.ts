import { readdir, readFile } from "node:fs/promises";
import { platform } from "node:os";
import { dirname, join } from "node:path";
import type { Finding, InstallTarget, SettingsText } from "../../model/agent.ts";
import { asArray, asObject } from "../shared/payload/json.ts";
import { parseDocument, plainOf } from "../shared/settings/jsonc.ts";
import { registeredEvents } from "../shared/settings/settings.ts";
import { settingsPath } from "./settings.ts";

/**
 * Finds settings that switch registered hooks off. Claude Code skips such hooks silently. Verified with 2.1.329, each setting
 * in each file.
 *
 * @param managed the administrator's folder, whose settings override all others
 */
export async function check(
  files: readonly SettingsText[],
  target: InstallTarget,
  managed: string = managedFolder(platform()),
): Promise<readonly Finding[]> {
  const administrators = await layersOf([join(managed, "managed-settings.json"), ...(await dropInsOf(managed))]);
  // The organisation's policy, which Claude Code downloads
  const remote = await layersOf([join(dirname(settingsPath("user", target)), "remote-settings.json")]);
  const shadowing = remote.find(isOnlySource);
  const ours = administrators.find(hasOurHooks);
  if (shadowing !== undefined && ours !== undefined && files.some(({ path }) => path === ours.path)) {
    const advice = `the organisation must add them there, or set "managedSourcesBehavior" to "merge" there (since 2.1.242)`;
    return [broken(`Claude Code reads only ${shadowing.path}, not the hooks for all users in ${ours.path}; ${advice}`)];
  }
  const managedLayers = [...(shadowing === undefined ? administrators : []), ...remote];
  const userLayers = await layersOf([
    settingsPath("user", target),
    settingsPath("project", target),
    join(target.project, ".claude", "settings.local.json"),
  ]);
  // Only the administrator can switch off hooks in the administrator's settings
  if (managedLayers.some(hasOurHooks)) return switchedOff(managedLayers);
  return [...switchedOff([...userLayers, ...managedLayers]), ...managedHooksOnly(managedLayers)];
}

/** The administrator's folder. */
export function managedFolder(system: NodeJS.Platform): string {
  if (system === "darwin") return "/Library/Application Support/ClaudeCode";
  return system === "win32" ? "C:\\Program Files\\ClaudeCode" : "/etc/claude-code";
}

// --- internal ---

interface Layer {
  readonly path: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

async function dropInsOf(managed: string): Promise<readonly string[]> {
  const folder = join(managed, "managed-settings.d");
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.endsWith(".json") && !name.startsWith("."))
    .sort()
    .map((name) => join(folder, name));
}

/** Settings in ascending precedence; unreadable files are skipped. */
async function layersOf(paths: readonly string[]): Promise<readonly Layer[]> {
  const layers = await Promise.all(
    [...new Set(paths)].map(async (path) => ({ path, settings: await settingsAt(path) })),
  );
  return layers.flatMap(({ path, settings }) => (settings === undefined ? [] : [{ path, settings }]));
}

async function settingsAt(path: string): Promise<Layer["settings"] | undefined> {
  try {
    return asObject(plainOf(parseDocument((await readFile(path, "utf8")).replace(/^\uFEFF/, ""))));
  } catch {
    return undefined;
  }
}

const hasOurHooks = ({ settings }: Layer): boolean => registeredEvents(JSON.stringify(settings)).length > 0;

/**
 * By default Claude Code reads only the first source with a policy: what it downloads, then the system's policies, which are not in a
 * file, then files. https://code.claude.com/docs/en/managed-settings, read 2026-11-27
 */
const isOnlySource = ({ settings }: Layer): boolean =>
  settings["managedSourcesBehavior"] !== "merge" && Object.keys(settings).some((key) => !CONTROL_KEYS.includes(key));

const CONTROL_KEYS: readonly string[] = ["managedSourcesBehavior", "wslInheritsWindowsSettings"];

/** The layer with the highest precedence that has the setting. */
const strongestWith = (layers: readonly Layer[], key: string): Layer | undefined =>
  layers.findLast(({ settings }) => settings[key] !== undefined);

/** The file with the highest precedence that has the setting decides for all hooks. */
function switchedOff(layers: readonly Layer[]): readonly Finding[] {
  const layer = strongestWith(layers, "disableAllHooks");
  if (layer?.settings["disableAllHooks"] !== true) return [];
  return [broken(`hooks are switched off: "disableAllHooks" is true in ${layer.path}; remove it`)];
}

/** An administrator can restrict hooks to those in the administrator's settings. */
function managedHooksOnly(layers: readonly Layer[]): readonly Finding[] {
  return ["allowManagedHooksOnly", "strictPluginOnlyCustomization"].flatMap((key): Finding[] => {
    const layer = strongestWith(layers, key);
    const value = layer?.settings[key];
    if (layer === undefined || !(value === true || asArray(value).includes("hooks"))) return [];
    const advice = `ask the administrator of ${dirname(layer.path)} to remove it, or to run enable --managed`;
    return [broken(`users' hooks are switched off by "${key}" in ${layer.path}; ${advice}`)];
  });
}

const broken = (text: string): Finding => ({ level: "broken", text });
