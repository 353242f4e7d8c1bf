// The hook reference inside the package and the program 3.0.3, read 2026-11-26
import { join, resolve } from "node:path";
import type { HookCommand } from "#core/model/agent.ts";
import type { InstallTarget } from "#core/model/installer.ts";
import { detectBy } from "../shared/settings/detect.ts";
import { oneFile } from "../shared/settings/one-file.ts";
import { addHooks, readableHooks, removeHooks, type WantedTomlHook } from "../shared/settings/toml-hooks.ts";
import { adapter } from "./adapter.ts";

export default oneFile({
  scopes: ["user", "project"],
  path: (scope, target) => join(scope === "user" ? homeOf(target) : join(target.project, FOLDER), "hooks.toml"),
  add: (text, { command }) => addHooks(text ?? "", hooksFor(command)),
  remove: removeHooks,
  registered: (text) =>
    readableHooks(text).flatMap(({ texts: { type }, isOurs }) => (isOurs && type !== undefined ? [type] : [])),
  detect: detectBy("vibe", (target) => [join(homeOf(target), "config.toml")]),
});

// --- internal ---

const FOLDER = ".vibe";

function homeOf({ home, project, env }: InstallTarget): string {
  const moved = env["VIBE_HOME"];
  return moved === undefined || moved === "" ? join(home, FOLDER) : resolve(project, moved);
}

// The hook takes 3 ms. The default of 60 s is too long if a hook hangs
const TIMEOUT_S = 5;

/** Of two hooks with one name, in the user's and in the project's file, only the project's runs. */
const hooksFor = (command: HookCommand): readonly WantedTomlHook[] =>
  adapter.hooks.map(({ event, drain }) => ({
    name: `openhook-otel-${event}`,
    type: event,
    command: command({ source: adapter.source, drain }),
    timeout: TIMEOUT_S,
  }));
