// https://opencode.ai/docs/plugins, read 2026-11-21
import { stat } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import type { HookCommand, InstallTarget } from "../../model/agent.ts";
import { versionOf } from "../shared/payload/version.ts";
import { oneFile } from "../shared/settings/one-file.ts";
import { SettingsError } from "../shared/settings/settings.ts";
import plugin from "./plugin.js?raw";

/**
 * OpenCode has no command hooks; it loads plugins into its process. Our plugin is one file, created, replaced and removed as a
 * whole. Another program's file with this name is not changed.
 */
export default oneFile({
  scopes: ["user", "project"],
  path(scope, target) {
    const folder = scope === "user" ? configDirOf(target) : join(target.project, ".opencode");
    return join(folder, "plugins", "openhook-otel.js");
  },
  add(text, { command }) {
    if (text === undefined || text.trim() === "" || isOurs(text)) return pluginFor(command);
    throw new SettingsError("this plugin is not ours", "give it another name and run the command again", 1, 1);
  },
  remove: (text) => (isOurs(text) ? undefined : text),
  registered: (text) => (isOurs(text) ? HOOKS : []),
  async detect(target) {
    const version = await versionOf("opencode", target.env);
    if (version !== undefined) return { present: true, version };
    return { present: await isDirectory(configDirOf(target)) };
  },
});

// --- internal ---

const MARK = "// openhook-otel plugin for OpenCode";
/** The hooks of the plugin. */
const HOOKS = ["chat.message", "tool.execute.before", "tool.execute.after", "event", "dispose"];

const isOurs = (text: string): boolean => text.replace(/^\uFEFF/, "").startsWith(MARK);

/** The plugin's text. It finds the program in the default folder; another folder, from the command line, is inserted. */
function pluginFor(command: HookCommand): string {
  const path = programIn(command({ source: "opencode", drain: "no" }));
  const isUsual = path === undefined || USUAL.test(path);
  return isUsual
    ? plugin
    : plugin.replace('INSTALLED_IN = ""', () => `INSTALLED_IN = ${JSON.stringify(dirname(path))}`);
}

const USUAL = /^~\/|[\\/]AppData[\\/]Local[\\/]openhook-otel[\\/]hook\.cjs$/;

/** `h='…/hook';…`, on Windows `"…node.exe" "…\hook.cjs" …`. */
function programIn(line: string): string | undefined {
  const quoted = /^h='((?:[^']|'\\'')*)';/.exec(line)?.[1]?.replaceAll("'\\''", "'");
  return quoted ?? /^h=([^';]+);/.exec(line)?.[1] ?? /^"[^"]*" "([^"]*)"/.exec(line)?.[1];
}

function configDirOf({ home, env }: InstallTarget): string {
  const moved = env["XDG_CONFIG_HOME"];
  return join(moved !== undefined && isAbsolute(moved) ? moved : join(home, ".config"), "opencode");
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
