import { readdir } from "node:fs/promises";
import { platform } from "node:os";
import { dirname, join } from "node:path";
import type { Finding, InstallTarget, SettingsText } from "#core/model/installer.ts";
import { readSettingsText } from "#kit/open.ts";
import { asArray, asObject } from "../shared/payload/json.ts";
import { parseDocument, plainOf } from "../shared/settings/jsonc.ts";
import { registeredEvents } from "../shared/settings/settings.ts";
import { settingsPath } from "./settings.ts";
import { type SystemPolicies, type SystemPolicy, systemPolicies } from "./system-policy.ts";

/** What administrators can write policies in. */
export interface PolicySources {
  /** The administrator's folder. */
  readonly folder: string;
  readonly system: (target: InstallTarget) => Promise<SystemPolicies>;
}

/**
 * Finds settings that switch registered hooks off. Claude Code skips such hooks silently. Verified with 2.1.329, each setting
 * in each file; policies of macOS and of Windows' registry are read as documented.
 *
 * @param sources the administrator's policies, which override all other settings
 */
export async function check(
  files: readonly SettingsText[],
  target: InstallTarget,
  sources: PolicySources = sourcesOf(platform()),
): Promise<readonly Finding[]> {
  const { system, administrators, read, managed: managedLayers } = await policiesOf(target, sources);
  const unread = unreadable([system.administrator, system.user]);
  const ours = administrators.find(hasOurHooks);
  if (ours !== undefined && !read.includes(ours) && files.some(({ path }) => path === ours.path)) {
    const path = read.findLast(hasPolicy)?.path;
    const advice = `the organisation must add them there, or set "managedSourcesBehavior" to "merge" there (since 2.1.242)`;
    return [
      broken(`Claude Code reads only ${path}, not the hooks for all users in ${ours.path}; ${advice}`),
      ...unread,
    ];
  }
  const userLayers = await layersOf([
    settingsPath("user", target),
    settingsPath("project", target),
    join(target.project, ".claude", "settings.local.json"),
  ]);
  // Only the administrator can switch off hooks in the administrator's settings
  if (managedLayers.some(hasOurHooks)) return [...switchedOff(managedLayers), ...unread];
  return [...switchedOff([...userLayers, ...managedLayers]), ...managedHooksOnly(managedLayers), ...unread];
}

/**
 * The policies, each in ascending precedence: `administrators`: files; `read`: those of them and of the system that Claude Code reads;
 * `managed`: all that apply.
 */
export async function policiesOf(target: InstallTarget, sources: PolicySources = sourcesOf(platform())) {
  const { folder } = sources;
  const system = await sources.system(target);
  const administrators = await layersOf([join(folder, "managed-settings.json"), ...(await dropInsOf(folder))]);
  // The organisation's policy, which Claude Code downloads
  const remote = await layersOf([join(dirname(settingsPath("user", target)), "remote-settings.json")]);
  const read = readOf([administrators, layerOf(system.administrator), remote.map(asOwnSource)]);
  // The user's policy counts only if no other source has one
  return { system, administrators, read, managed: read.some(hasPolicy) ? read : [...layerOf(system.user), ...read] };
}

/** The administrator's folder. */
export function managedFolder(system: NodeJS.Platform): string {
  if (system === "darwin") return "/Library/Application Support/ClaudeCode";
  return system === "win32" ? "C:\\Program Files\\ClaudeCode" : "/etc/claude-code";
}

// --- internal ---

const sourcesOf = (system: NodeJS.Platform): PolicySources => ({
  folder: managedFolder(system),
  system: ({ env }) => systemPolicies(system, env),
});

interface Layer {
  readonly path: string;
  readonly settings: Readonly<Record<string, unknown>>;
  /** What the user can do about it; absent: for a file of the administrator. */
  readonly remedy?: string;
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
    return asObject(plainOf(parseDocument(((await readSettingsText(path)) ?? "").replace(/^\uFEFF/, ""))));
  } catch {
    return undefined;
  }
}

const hasOurHooks = ({ settings }: Layer): boolean => registeredEvents(JSON.stringify(settings)).length > 0;

/** A separate source: Claude Code then does not read the file that `enable --managed` writes, unless it merges all sources. */
const asOwnSource = (layer: Layer): Layer => ({
  ...layer,
  remedy: isMerging(layer)
    ? "ask the administrator to remove it, or to run enable --managed"
    : "ask the administrator to remove it, or to add there what enable --managed --print shows",
});

function layerOf(policy: SystemPolicy | undefined): readonly Layer[] {
  if (policy?.settings === undefined) return [];
  const layer = { path: policy.path, settings: policy.settings };
  return [
    policy.isUsers
      ? { ...layer, remedy: "remove it, or ask the administrator to run enable --managed" }
      : asOwnSource(layer),
  ];
}

function unreadable(policies: readonly (SystemPolicy | undefined)[]): readonly Finding[] {
  return policies.flatMap((policy): Finding[] => {
    if (policy === undefined || policy.settings !== undefined) return [];
    const text = `the policy in ${policy.path} could not be read, so it is unknown whether it switches hooks off`;
    return [{ level: "remark", text }];
  });
}

/**
 * The settings of the sources that Claude Code reads, of sources in ascending precedence. By default that is only the first source with a
 * policy: what it downloads, then the system's policy, then files. https://code.claude.com/docs/en/managed-settings, read 2026-11-27
 */
function readOf(sources: readonly (readonly Layer[])[]): readonly Layer[] {
  const first = sources.findLastIndex((layers) => layers.some(hasPolicy));
  return first < 0 || sources.slice(first).flat().some(isMerging) ? sources.flat() : sources.slice(first).flat();
}

const isMerging = ({ settings }: Layer): boolean => settings["managedSourcesBehavior"] === "merge";

const hasPolicy = ({ settings }: Layer): boolean => Object.keys(settings).some((key) => !CONTROL_KEYS.includes(key));

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
    const ofFile = `ask the administrator of ${dirname(layer.path)} to remove it, or to run enable --managed`;
    return [broken(`users' hooks are switched off by "${key}" in ${layer.path}; ${layer.remedy ?? ofFile}`)];
  });
}

const broken = (text: string): Finding => ({ level: "broken", text });
