// https://docs.cline.bot/customization/hooks; behaviour of the CLI tried with 3.0.65: README.md beside this file

import { readdir } from "node:fs/promises";
import { platform } from "node:os";
import { basename, dirname, extname, join } from "node:path";
import type { Finding, Installer, InstallTarget, SettingsText } from "#core/model/installer.ts";
import { readSettingsText } from "#kit/open.ts";
import type { Hook } from "../shared/payload/hooks.ts";
import { compareVersions, versionOf } from "../shared/payload/version.ts";
import { detectBy } from "../shared/settings/detect.ts";
import { isOurCommand, SettingsError } from "../shared/settings/settings.ts";
import { adapter } from "./adapter.ts";
import { clineFolder } from "./places.ts";

export default {
  scopes: ["user", "project"],
  paths: (scope, target) => hookFiles(hooksFolder(scope, target)),
  add(files, { command }) {
    const handled = new Set<string>();
    return files.map((file) => {
      const hook = hookOf(file.path);
      const mayBeOurs = file.text === undefined || isOurs(file.text);
      if (hook === undefined || !mayBeOurs) throw nameTaken(file.path);
      // Cline runs every file of an event, so one file of ours is enough
      if (handled.has(hook.event)) return { ...file, text: undefined };
      handled.add(hook.event);
      return { ...file, text: hookFileText(file.path, command({ source: adapter.source, drain: hook.drain })) };
    });
  },
  remove: (files) => files.map((file) => (isOurText(file.text) ? { ...file, text: undefined } : file)),
  registered: (files) => [
    ...new Set(files.flatMap(({ path, text }) => (isOurText(text) ? (hookOf(path)?.event ?? []) : []))),
  ],
  check: async (files, target) => [...(await unreadFolder(files, target)), ...(await findings(target))],
  detect: detectBy("cline", ({ env, home }) => [clineFolder(env, home)]),
} satisfies Installer;

/**
 * The text of a hook file that contains only our hook: a shell script, or on Windows a script for Node, which Cline runs
 * because of its extension.
 *
 * @param path its extension selects the form
 * @param command the command line to run
 */
export function hookFileText(path: string, command: string): string {
  if (!path.endsWith(".cjs")) return `#!/bin/sh\n${MARKER}\n${command}\n`;
  const options = '{ shell: true, stdio: "inherit", windowsHide: true }';
  return `// ${MARK}\nrequire("node:child_process").spawnSync(${JSON.stringify(command)}, ${options});\n`;
}

/** True for an unchanged text that this version or another one wrote. */
export function isOurs(text: string): boolean {
  const [first, second, third, ...rest] = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const isRestEmpty = rest.every((line) => line === "");
  if (first === "#!/bin/sh" && second === MARKER) return isRestEmpty && isOurCommand(third ?? "");
  if (first !== `// ${MARK}` || third !== "" || !isRestEmpty) return false;
  return isOurCommand(commandIn(second ?? "") ?? "");
}

// --- internal ---

/** Extensions with which Cline runs our text; the first unused one is taken. Cline runs all files with an event's name. */
const ENDINGS: readonly string[] = platform() === "win32" ? [".cjs"] : ["", ".sh", ".bash", ".zsh"];

/**
 * Cline's own folder, not `~/Documents/Cline/Hooks`, which it also reads: Documents may be synchronised to machines without the
 * hook program, and users have their own hooks there.
 */
const hooksFolder = (scope: "user" | "project", { home, project, env }: InstallTarget): string =>
  scope === "user" ? join(clineFolder(env, home), "hooks") : join(project, ".clinerules", "hooks");

/** For each event our existing files, otherwise the first unused name. */
async function hookFiles(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  const paths: string[] = [];
  for (const { event } of adapter.hooks) {
    const taken = names.filter((name) => hookOf(name)?.event === event);
    const ours: string[] = [];
    for (const name of taken) {
      const text = await readSettingsText(join(folder, name));
      if (isOurText(text)) ours.push(name);
    }
    // On some systems names that differ only in case are one file
    const used = new Set(taken.map((name) => name.toLowerCase()));
    const freeName = ENDINGS.map((ending) => `${event}${ending}`).find((name) => !used.has(name.toLowerCase()));
    const chosen = ours.length > 0 ? ours : [freeName ?? `${event}${ENDINGS[0] ?? ""}`];
    paths.push(...chosen.sort().map((name) => join(folder, name)));
  }
  return paths;
}

const isOurText = (text: string | undefined): boolean => text !== undefined && isOurs(text);

/** The hook of a file name, by Cline's rules: any known extension, case-insensitive. */
function hookOf(path: string): Hook | undefined {
  const name = basename(path);
  const ending = extname(name);
  if (!KNOWN_ENDINGS.has(ending.toLowerCase())) return undefined;
  const stem = basename(name, ending).toLowerCase();
  return adapter.hooks.find(({ event }) => event.toLowerCase() === stem);
}

const KNOWN_ENDINGS = new Set([
  "",
  ".sh",
  ".bash",
  ".zsh",
  ".js",
  ".mjs",
  ".cjs",
  ".ts",
  ".mts",
  ".cts",
  ".py",
  ".ps1",
]);

const nameTaken = (path: string): SettingsError =>
  new SettingsError(
    `${JSON.stringify(basename(path))} is another program's hook, and every other name for this event is taken`,
    "rename it, for example to .py or .js, and run the command again",
    1,
    1,
  );

/** Cline 2 only looks in projects and in `~/Documents/Cline/Hooks` (tried with 2.18.0). */
async function unreadFolder(files: readonly SettingsText[], target: InstallTarget): Promise<readonly Finding[]> {
  const folder = hooksFolder("user", target);
  if (!files.some(({ path, text }) => dirname(path) === folder && isOurText(text))) return [];
  const version = await versionOf("cline", target.env);
  if (version === undefined || compareVersions(version, "3.0.0") >= 0) return [];
  return [
    {
      level: "broken",
      text: `Cline ${version} does not look for hooks in ${folder}; update it to 3, or enable it with --scope project (without tokens for this version)`,
    },
  ];
}

/** Reports hook files of ours that the user has added to; they are not changed. */
async function findings(target: InstallTarget): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  for (const folder of [hooksFolder("user", target), hooksFolder("project", target)]) {
    for (const name of (await readdir(folder).catch(() => [])).sort()) {
      const path = join(folder, name);
      const text = hookOf(name) === undefined ? undefined : await readSettingsText(path);
      if (text === undefined || !hasAdditions(text)) continue;
      const advice = "move the addition to a separate file (Cline runs all), delete this one and enable cline again";
      found.push({ level: "remark", text: `${path} contains additions, so it is not updated: ${advice}` });
    }
  }
  return found;
}

/** True for a text of ours to which a user added something; `isOurs` is false for it. */
const hasAdditions = (text: string): boolean => !isOurs(text) && text.includes(MARK);

const MARK = "openhook-otel wrote this file; `openhook-otel disable cline` takes it away";
const MARKER = `# ${MARK}`;

function commandIn(line: string): string | undefined {
  const text = /spawnSync\(("(?:[^"\\]|\\.)*")/.exec(line)?.[1];
  return text === undefined ? undefined : String(JSON.parse(text));
}
