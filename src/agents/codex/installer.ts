// https://developers.openai.com/codex/hooks and the programs 0.110.0 to 0.169.0, read 2026-11-21

import { basename } from "node:path";
import type { HookCommand } from "#core/model/agent.ts";
import type { Installer, InstallTarget, Registration, SettingsText } from "#core/model/installer.ts";
import { detectBy } from "../shared/settings/detect.ts";
import * as json from "../shared/settings/settings.ts";
import { adapter, type NativeName } from "./adapter.ts";
import { check, hasNoHooks } from "./check.ts";
import { changeStates, markedKeys } from "./config.ts";
import { managedHooks } from "./managed.ts";
import { addNotify, notifyOf, removeNotify } from "./notify.ts";
import { CONFIG, codexHomeOf, configPath, HOOKS, hooksPath } from "./places.ts";
import { type Handler, handlersOf, stateKey, trustHash } from "./trust.ts";

export default {
  scopes: ["user", "project"],
  paths,
  add,
  remove,
  registered,
  check,
  managed: managedHooks((command) => registrationsFor(command)),
  detect: detectBy("codex", async (target) => [await codexHomeOf(target)]),
} satisfies Installer;

// --- internal ---

/** Trust is written first: Codex would ask the user about a hook that is not trusted yet. */
async function paths(scope: "user" | "project", target: InstallTarget): Promise<readonly string[]> {
  return [await configPath(target), await hooksPath(scope, target)];
}

function add(files: readonly SettingsText[], { command, version }: Registration): readonly SettingsText[] {
  const { config, hooks } = named(files);
  if (hasNoHooks(version)) {
    const left = withoutHooks(hooks);
    const untrusted = withTrust(config, hooks, left);
    const line = command({ source: SOURCE, drain: "yes" });
    return edit(
      files,
      inFile(config, () => addNotify(untrusted, line)),
      left,
    );
  }
  const wanted = inFile(hooks, () => json.addRegistrations(strict(hooks.text), registrationsFor(command)));
  return edit(files, withTrust(withoutNotify(config), hooks, wanted), wanted);
}

function remove(files: readonly SettingsText[]): readonly SettingsText[] {
  const { config, hooks } = named(files);
  const left = withoutHooks(hooks);
  return edit(files, withTrust(withoutNotify(config), hooks, left), left);
}

function registered(files: readonly SettingsText[]): readonly string[] {
  try {
    const { config, hooks } = named(files);
    const events = hooks.text === undefined ? [] : json.registeredEvents(hooks.text);
    return notifyOf(config.text) === "ours" ? [...events, "agent-turn-complete" satisfies NativeName] : events;
  } catch {
    return [];
  }
}

const SOURCE = "codex";

// The hook takes 3 ms. Without our timeout, a hook that hangs would block the agent for its default of 600 s.
const TIMEOUT_S = 5;
// Codex's maximum for these two; without an explicit timeout SessionEnd is killed after 1 s
const LAST_TIMEOUT_S = 3;

/**
 * Codex silently skips unknown names (verified with 0.128.0 to 0.169.0).
 *
 * Not registered: PermissionRequest (its hook answers for the user), PreModelRequest (the file has the times of requests),
 * PostCompact (has no more facts than PreCompact). PostModelRequest is registered for sessions without a file.
 *
 * Never `async`: such hooks are killed when `codex exec` ends, and for SessionEnd Codex ignores the setting with a warning.
 */
const registrationsFor = (command: HookCommand): readonly json.Registration[] =>
  json.registrationsOf(adapter, command, (line, { type, drain }) => ({
    type: "command",
    command: line,
    timeout: drain === "yes" && type !== "turn.end" ? LAST_TIMEOUT_S : TIMEOUT_S,
  }));

/**
 * The configuration with our hooks trusted at their positions in `after`. The trust of other hooks moves too: Codex identifies
 * hooks by position, which changes when ours are added or removed.
 */
function withTrust(config: SettingsText, hooks: SettingsText, after: string | undefined): string | undefined {
  const [old, now] = [handlersOf(hooks.text), handlersOf(after)];
  const key = (handler: Handler): string => stateKey(hooks.path, handler);
  const trust = new Map(now.filter(({ isOurs }) => isOurs).map((one) => [key(one), trustHash(one)]));
  const move = new Map<string, string>();
  const foreign = now.filter(({ isOurs }) => !isOurs);
  for (const [at, handler] of old.filter(({ isOurs }) => !isOurs).entries()) {
    const there = foreign[at];
    if (there !== undefined && key(there) !== key(handler)) move.set(key(handler), key(there));
  }
  return inFile(config, () => {
    const text = config.text ?? "";
    const places = new Set(old.map(key));
    // If a user removed our hooks, their trust is still there
    const orphans = markedKeys(text).filter((one) => one.startsWith(`${hooks.path}:`) && !places.has(one));
    const ours = old.filter(({ isOurs }) => isOurs).map(key);
    const forget = new Set([...ours, ...orphans].filter((one) => !trust.has(one)));
    const changed = changeStates(text, { trust, forget, move });
    return changed === text ? config.text : changed;
  });
}

const withoutHooks = (hooks: SettingsText): string | undefined =>
  inFile(hooks, () => (hooks.text === undefined ? undefined : json.removeRegistrations(hooks.text)));

const withoutNotify = (config: SettingsText): SettingsText => ({
  ...config,
  text: inFile(config, () => (config.text === undefined ? undefined : removeNotify(config.text))),
});

const named = (files: readonly SettingsText[]): { readonly config: SettingsText; readonly hooks: SettingsText } => {
  const one = (name: string): SettingsText =>
    files.find(({ path }) => basename(path) === name) ?? { path: name, text: undefined };
  return { config: one(CONFIG), hooks: one(HOOKS) };
};

const edit = (files: readonly SettingsText[], config: string | undefined, hooks: string | undefined) =>
  files.map((file) => ({ ...file, text: basename(file.path) === CONFIG ? config : hooks }));

/** Codex reads strict JSON; our editor also accepts comments. */
function strict(text: string | undefined): string | undefined {
  if (text === undefined || text.trim() === "") return text;
  try {
    JSON.parse(text);
  } catch (error) {
    const offset = Number(/at position (\d+)/.exec(String(error))?.[1] ?? 0);
    const lines = text.slice(0, offset).split("\n");
    throw new json.SettingsError(
      "not valid JSON, without comments and trailing commas, as Codex wants it",
      "correct it by hand and run the command again",
      lines.length,
      (lines.at(-1)?.length ?? 0) + 1,
      { cause: error },
    );
  }
  return text;
}

/** Adds the file's path to an error. */
function inFile<T>({ path }: SettingsText, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof json.SettingsError ? Object.assign(error, { path }) : error;
  }
}
