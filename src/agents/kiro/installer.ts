// https://kiro.dev/docs/cli/hooks/, /docs/cli/v3/hooks/, /docs/cli/v3/hooks-migration/, read 2026-11-21

import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Finding, Installer, InstallTarget, Registration, SettingsText } from "#core/model/installer.ts";
import { readSettingsText } from "#kit/open.ts";
import { capitalised } from "#kit/text/amounts.ts";
import type { Hook } from "../shared/payload/hooks.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { compareVersions, versionOf } from "../shared/payload/version.ts";
import { detectBy } from "../shared/settings/detect.ts";
import {
  type EntryFile,
  entriesOfOurs,
  listsOfOurs,
  type OwnEntries,
  putEntries,
  removeEntries,
} from "../shared/settings/entries.ts";
import { type JsonObject, nodeAt, parseDocument, propertiesOf } from "../shared/settings/jsonc.ts";
import { isOurCommand } from "../shared/settings/settings.ts";
import { adapter, FROM_AGENT_FILE, SOURCE } from "./adapter.ts";

/**
 * Two of Kiro's hook systems use files. v3 of the CLI (2.13 and later) and IDE 1.x read hook files, which contain only our hooks. CLI
 * 2.x has hooks in each agent's file, and none for its built-in agent. An agent file has them as an object, for which v3 refuses
 * the whole agent, or as a list, which older versions cannot read: the file's form is kept.
 */
export default {
  scopes: ["user", "project"],
  async paths(scope, target) {
    const files = await Promise.all(
      foldersOf(scope, target).map(async (folder) => [...hookFiles(folder), ...(await agentFiles(folder))]),
    );
    return files.flat();
  },
  add: (files, registration) => files.map((file) => ({ ...file, text: added(file, registration) })),
  remove: (files) =>
    files.map((file) => ({
      ...file,
      text: file.text === undefined ? undefined : removeEntries(file.text, kindOf(file)),
    })),
  registered: (files) => [...new Set(files.flatMap(triggersIn))],
  check,
  detect: detectBy("kiro-cli", (target) => foldersOf("user", target)),
} satisfies Installer;

// --- internal ---

const HOOK_FILE = "openhook-otel.json";
/** A separate file: a reader that does not know the event could refuse a whole file. */
const END_FILE = "openhook-otel-end.json";
const SESSION_END_SINCE = "2.25.0";

/** From this version on the CLI starts v3; its 2.x engine also reads lists. */
const LISTS_SINCE = "3.0.0";

// The hook takes 3 ms; the agent waits for every hook
const TIMEOUT_S = 5;

const isOurs = (entry: JsonObject): boolean =>
  isOurCommand(asString(entry["command"]) ?? asString(asObject(entry["action"])?.["command"]) ?? "");

const V1_FILE: EntryFile = {
  emptyDocument: { version: "v1" },
  lists: () => [["hooks"]],
  isOurs,
  removesEmpty: false,
  hooksOnly: true,
};

/** `kiro-cli agent validate` refuses an event without entries. */
const AGENT_FILE: EntryFile = {
  emptyDocument: {},
  lists: (root) => {
    const hooks = propertiesOf(root).findLast(({ key }) => key === "hooks")?.value;
    return hooks?.type === "array" ? [["hooks"]] : propertiesOf(hooks).map(({ key }) => ["hooks", key]);
  },
  isOurs,
  removesEmpty: true,
  hooksOnly: false,
};

/** The names in hook files of v3: capitals, and another one for the start. */
const V1_HOOKS = adapter.hooks.map((hook) => ({
  ...hook,
  event: hook.type === "session.start" ? "SessionStart" : capitalised(hook.event),
}));
const END_HOOKS = [{ event: "SessionEnd", drain: "yes" }] as const;

/** If `KIRO_HOME` is set, CLI 2.x has all of a user's files there; v3 and the IDE ignore it, so both folders are used. */
function foldersOf(scope: "user" | "project", { home, project, env }: InstallTarget): readonly string[] {
  if (scope === "project") return [join(project, ".kiro")];
  const moved = env["KIRO_HOME"];
  const usual = join(home, ".kiro");
  return moved === undefined || moved === "" ? [usual] : [...new Set([resolve(project, moved), usual])];
}

const hookFiles = (folder: string): readonly string[] =>
  [HOOK_FILE, END_FILE].map((name) => join(folder, "hooks", name));

const kindOf = ({ path }: Pick<SettingsText, "path">): EntryFile =>
  basename(dirname(path)) === "agents" ? AGENT_FILE : V1_FILE;

const agentFiles = (folder: string): Promise<readonly string[]> =>
  readdir(join(folder, "agents")).then(
    (names) =>
      names
        .filter((name) => name.endsWith(".json"))
        .sort()
        .map((name) => join(folder, "agents", name)),
    () => [],
  );

function added(file: SettingsText, registration: Registration): string | undefined {
  if (kindOf(file) === AGENT_FILE) {
    // A missing agent is not created: which tools it may use is the user's decision
    if (file.text === undefined) return undefined;
    const text = readable(file.text, registration);
    return putEntries(text, agentEntries(text, registration), AGENT_FILE);
  }
  if (basename(file.path) === HOOK_FILE) return putEntries(file.text, v1Entries(V1_HOOKS, registration), V1_FILE);
  const { version } = registration;
  if (version !== undefined && compareVersions(version, SESSION_END_SINCE) >= 0) {
    return putEntries(file.text, v1Entries(END_HOOKS, registration), V1_FILE);
  }
  return file.text === undefined ? undefined : removeEntries(file.text, V1_FILE);
}

const v1Entries = (
  hooks: readonly Pick<Hook, "event" | "drain">[],
  { command }: Registration,
): readonly OwnEntries[] => [
  {
    path: ["hooks"],
    entries: hooks.map(({ event, drain }) => ({
      ...listed(event, command({ source: SOURCE, drain })),
      enabled: true,
    })),
  },
];

const listed = (trigger: string, command: string): JsonObject => ({
  name: `openhook-otel ${trigger}`,
  trigger,
  action: { type: "command", command },
  timeout: TIMEOUT_S,
});

const readsLists = ({ version }: Registration): boolean =>
  version !== undefined && compareVersions(version, LISTS_SINCE) >= 0;

/** Kiro refuses the agent after an update if its hooks are still an object. If that has only our hooks, it is rewritten. */
function readable(text: string, registration: Registration): string {
  if (!readsLists(registration) || formIn(text) !== "object") return text;
  const bare = removeEntries(text, AGENT_FILE) ?? text;
  return formIn(bare) === "none" ? bare : text;
}

/** Without a matcher, which means all tools: one version did not run a hook with `*`. */
function agentEntries(text: string, registration: Registration): readonly OwnEntries[] {
  const { command } = registration;
  const form = formIn(text);
  const isList = form === "list" || (form === "none" && readsLists(registration));
  // The events that the validator of 2.20.0 accepts
  const commands = adapter.hooks.map(
    ({ event, drain }) => [event, command({ source: SOURCE, event: FROM_AGENT_FILE, drain })] as const,
  );
  if (isList) return [{ path: ["hooks"], entries: commands.map(([event, line]) => listed(event, line)) }];
  return commands.map(([event, line]) => ({
    path: ["hooks", event],
    entries: [{ command: line, timeout_ms: TIMEOUT_S * 1000 }],
  }));
}

/** The form of an agent file's hooks. Invalid files count as an object; editing them reports the error. */
function formIn(text: string): "list" | "object" | "none" {
  try {
    const hooks = nodeAt(parseDocument(text.replace(/^\uFEFF/, "")), ["hooks"]);
    return hooks === undefined ? "none" : hooks.type === "array" ? "list" : "object";
  } catch {
    return "object";
  }
}

function triggersIn(file: SettingsText): readonly string[] {
  const { text } = file;
  if (text === undefined) return [];
  const kind = kindOf(file);
  return listsOfOurs(text, kind).flatMap((path) =>
    path.length > 1 ? path.slice(-1) : entriesOfOurs(text, kind).flatMap((entry) => asString(entry["trigger"]) ?? []),
  );
}

async function check(files: readonly SettingsText[], target: InstallTarget): Promise<readonly Finding[]> {
  const version = await versionOf("kiro-cli", target.env);
  const agents = files.filter((file) => kindOf(file) === AGENT_FILE);
  const inAgents = agents.filter((file) => triggersIn(file).length > 0);
  const ours = files.flatMap(({ path, text }) => (text === undefined ? [] : entriesOfOurs(text, kindOf({ path }))));
  return [
    ...defaultAgent(version, inAgents.length, await chosenAgent(target)),
    ...agents
      .filter((file) => inAgents.length < agents.length && triggersIn(file).length === 0)
      .map(({ path }) => remark(`the agent in ${path} has no openhook-otel hooks; run enable again`)),
    ...(ours.some((entry: JsonObject) => entry["enabled"] === false)
      ? [
          {
            level: "broken",
            text: 'our hooks are switched off ("enabled": false); switch them on in Kiro',
          } as const,
        ]
      : []),
    ...(await registeredTwice(files, target)),
  ];
}

/** CLI 2.x runs only hooks of agent files, and its built-in agent has no file. */
function defaultAgent(version: string | undefined, withHooks: number, chosen: string | undefined): readonly Finding[] {
  if (version === undefined || compareVersions(version, "3.0.0") >= 0) return [];
  const how =
    "create an agent (kiro-cli agent create NAME), choose it (kiro-cli agent set-default NAME) and run enable again";
  if (withHooks === 0) {
    const text = `Kiro CLI ${version} reads hooks only from agent files, and there is none: ${how}`;
    return [{ level: compareVersions(version, "2.13.0") < 0 ? "broken" : "remark", text }];
  }
  if (chosen !== undefined && chosen !== "kiro_default") return [];
  return [
    remark(
      `Kiro CLI ${version} starts its built-in agent, which cannot have hooks; choose one that can (kiro-cli agent set-default NAME)`,
    ),
  ];
}

async function chosenAgent(target: InstallTarget): Promise<string | undefined> {
  const [folder = ""] = foldersOf("user", target);
  const text = (await readSettingsText(join(folder, "settings", "cli.json"))) ?? "{}";
  try {
    const settings = asObject(JSON.parse(text));
    return asString(settings?.["chat.defaultAgent"]) ?? asString(asObject(settings?.["chat"])?.["defaultAgent"]);
  } catch {
    return undefined;
  }
}

/** Kiro's events have no ids: if both scopes are registered, each event counts twice. */
async function registeredTwice(files: readonly SettingsText[], target: InstallTarget): Promise<readonly Finding[]> {
  const hookFile = files.find((file) => basename(file.path) === HOOK_FILE && triggersIn(file).length > 0);
  if (hookFile === undefined) return [];
  for (const folder of (["user", "project"] as const).flatMap((scope) => foldersOf(scope, target))) {
    const path = join(folder, "hooks", HOOK_FILE);
    if (files.some((file) => file.path === path)) continue;
    const text = await readSettingsText(path);
    if (text !== undefined && triggersIn({ path, text }).length > 0) {
      const both = `${hookFile.path} and ${path}`;
      return [
        { level: "broken", text: `${both} both contain our hooks, so every event counts twice; disable one scope` },
      ];
    }
  }
  return [];
}

const remark = (text: string): Finding => ({ level: "remark", text });
