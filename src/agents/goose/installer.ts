// documentation/docs/guides/context-engineering/hooks.md of github.com/block/goose, read 2026-11-21; tried with 1.52.0

import { isAbsolute, join } from "node:path";
import type { HookCommand } from "#core/model/agent.ts";
import type { Installer, InstallTarget, SettingsText } from "#core/model/installer.ts";
import { detectBy } from "../shared/settings/detect.ts";
import { newDocument } from "../shared/settings/jsonc.ts";
import {
  addRegistrations,
  type Registration,
  registeredEvents,
  registrationsOf,
  removeRegistrations,
} from "../shared/settings/settings.ts";
import { adapter } from "./adapter.ts";

/** A plugin: a folder with a description and the hooks. Both files are ours, but hooks that users add to it are kept. */
export default {
  scopes: ["user", "project"],
  async paths(scope, { home, project }) {
    const folder = join(scope === "user" ? home : project, ".agents", "plugins", NAME);
    return [join(folder, "plugin.json"), join(folder, "hooks", "hooks.json")];
  },
  add: (files, { command }) =>
    files.map((file, index) => ({
      ...file,
      text: index === HOOKS ? addRegistrations(file.text, registrationsFor(command)) : (file.text ?? DESCRIPTION),
    })),
  remove(files) {
    const hooks = files[HOOKS]?.text;
    const left = hooks === undefined ? undefined : removeRegistrations(hooks);
    // Hooks of the user need the description
    return files.map((file, index) => ({
      ...file,
      text: index === HOOKS ? left : left === undefined && isOurs(file) ? undefined : file.text,
    }));
  },
  registered: (files) => registeredEvents(files[HOOKS]?.text ?? ""),
  detect: detectBy("goose", (target) => [configFolder(target)]),
} satisfies Installer;

export const configPathOf = (target: InstallTarget): string => join(configFolder(target), "config.yaml");

// --- internal ---

const NAME = "openhook-otel";
/** Index of the hooks file in the list of files. */
const HOOKS = 1;

const DESCRIPTION = newDocument({
  name: NAME,
  version: "1.0.0",
  description: "Sends what Goose does to OpenTelemetry",
});

const isOurs = ({ text }: SettingsText): boolean => text === DESCRIPTION;

/** In seconds; the default of 30 is too long if the hook hangs on a broken disk. */
const TIMEOUT_S = 5;

/**
 * Not registered: events that report a tool call under another name (BeforeReadFile, AfterFileEdit, Before- and
 * AfterShellExecution). Only PreToolUseResult reports a call that another plugin denied.
 *
 * Without a matcher: `*` is no regular expression, and Goose would drop the rule.
 */
const registrationsFor = (command: HookCommand): readonly Registration[] =>
  registrationsOf(
    adapter,
    (options) => command({ ...options, shell: "sh" }),
    (line) => ({ type: "command", command: line, timeout: TIMEOUT_S }),
  );

function configFolder({ home, env }: InstallTarget): string {
  const moved = env["XDG_CONFIG_HOME"];
  return join(moved !== undefined && isAbsolute(moved) ? moved : join(home, ".config"), "goose");
}
