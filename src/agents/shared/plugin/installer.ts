import { dirname } from "node:path";
import type { HookCommand } from "#core/model/agent.ts";
import type { Installer, InstallTarget } from "#core/model/installer.ts";
import { detectBy } from "../settings/detect.ts";
import { type OneFile, oneFile } from "../settings/one-file.ts";
import { posixProgramIn } from "../settings/project-line.ts";
import { SettingsError } from "../settings/settings.ts";
import { programInLine } from "../settings/windows-line.ts";
import inbox from "./inbox.js?raw";

/** A plugin, and where it is installed. */
interface InstalledPlugin extends Pick<OneFile, "path"> {
  readonly source: string;
  /** Its modules besides the shared one, its own last. */
  readonly modules: readonly [...(readonly string[]), string];
  /** Names of the agent's events that it handles, for `status`. */
  readonly hooks: readonly string[];
  /** The agent's folder, which exists if the agent was ever started. */
  folder(target: InstallTarget): string;
}

/**
 * For agents that load plugins into their process. Our plugin is one file, created, replaced and removed as a whole. Another
 * program's file with this name is not changed.
 */
export function pluginInstaller({ source, modules, hooks, path, folder }: InstalledPlugin): Installer {
  const text = joinModules([inbox, ...modules.slice(0, -1)], modules.at(-1) ?? "");
  const mark = text.slice(0, text.indexOf("\n"));
  const isOurs = (found: string): boolean => found.replace(/^\uFEFF/, "").startsWith(mark);
  return oneFile({
    scopes: ["user", "project"],
    path,
    add(found, { command }) {
      if (found === undefined || found.trim() === "" || isOurs(found)) return withFolder(text, source, command);
      throw new SettingsError("this plugin is not ours", "give it another name and run the command again", 1, 1);
    },
    remove: (found) => (isOurs(found) ? undefined : found),
    registered: (found) => (isOurs(found) ? hooks : []),
    detect: detectBy(source, (target) => [folder(target)]),
  });
}

// --- internal ---

/** The plugin's text. It finds the program in the default folder; another folder, from the command line, is inserted. */
function withFolder(text: string, source: string, command: HookCommand): string {
  const path = programIn(command({ source, drain: "no" }));
  const isUsual = path === undefined || USUAL.test(path);
  return isUsual ? text : text.replace('INSTALLED_IN = ""', () => `INSTALLED_IN = ${JSON.stringify(dirname(path))}`);
}

const USUAL = /^~\/\.local\/share\/openhook-otel\/hook$|[\\/]AppData[\\/]Local[\\/]openhook-otel[\\/]hook\.cjs$/;

/** The hook program in a command line of any form: a user's line, a project's line, or a line for Windows. */
const programIn = (line: string): string | undefined => programInLine(line) ?? posixProgramIn(line);

/**
 * One file from the modules of a plugin: in a folder of plugins, every file is a plugin.
 *
 * @param below the modules that it imports, each after those that it imports itself. Only the first may import from Node
 * @param plugin its own module. Its comments before the imports stay at the beginning, its exports are the file's
 */
function joinModules(below: readonly string[], plugin: string): string {
  const begin = plugin.search(IMPORT);
  const [head, body] = [plugin.slice(0, begin), plugin.slice(begin)];
  const parts = below.map((text) => withoutImports(text).replaceAll(/^export /gm, ""));
  return `${head}\n${[...parts, withoutImports(body)].map((text) => text.trim()).join("\n\n")}\n`;
}

/** An import from another module of ours. */
const IMPORT = /^import \{[^}]*\} from "\.[^"]*";\n/m;

const withoutImports = (text: string): string => text.replaceAll(new RegExp(IMPORT, "gm"), "");
