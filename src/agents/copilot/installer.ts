// https://docs.github.com/en/copilot/reference/hooks-configuration, read 2026-11-21; what each version does: README.md beside this file

import { platform } from "node:os";
import { isAbsolute, join, relative } from "node:path";
import type { HookCommand } from "#core/model/agent.ts";
import type { Finding, InstallTarget } from "#core/model/installer.ts";
import { readSettingsText } from "#kit/open.ts";
import { capitalised } from "#kit/text/amounts.ts";
import type { Hook } from "../shared/payload/hooks.ts";
import { asArray, asObject, asString } from "../shared/payload/json.ts";
import { compareVersions, parseVersion } from "../shared/payload/version.ts";
import { detectBy } from "../shared/settings/detect.ts";
import { parseDocument, plainOf } from "../shared/settings/jsonc.ts";
import { oneFile } from "../shared/settings/one-file.ts";
import { adapter } from "./adapter.ts";
import { addHooks, type FlatHook, hookEventsIn, removeHooks } from "./hook-file.ts";
import { OTHER_SPELLINGS } from "./payload.ts";
import { homeOf, policyFile } from "./places.ts";

export default oneFile({
  scopes: ["user", "project"],
  path(scope, target) {
    const folder = scope === "user" ? join(homeOf(target), "hooks") : join(target.project, ".github", "hooks");
    return join(folder, "openhook-otel.json");
  },
  add(text, { command, version, target, scope }) {
    // Users of every system share a project's file
    const systems = scope === "project" ? SYSTEMS : SYSTEMS.filter((one) => (one === "windows") === isWindows(target));
    return addHooks(text, hooksFor(command, version, systems));
  },
  remove: removeHooks,
  registered: hookEventsIn,
  managed: {
    // https://docs.github.com/en/copilot/reference/hooks-reference: policy hooks, read 2026-11-27. 1.0.102 ran them on Linux; not run on
    // macOS and Windows
    path: policyFile,
    // VS Code does not read it
    add: (text, command, { platform }) =>
      addHooks(text, hooksFor(command, undefined, [platform === "win32" ? "windows" : "posix"], false)),
    remove: removeHooks,
    registered: hookEventsIn,
  },
  async check(files, target) {
    // Nothing switches policy hooks off
    if (files.some(({ path }) => path === policyFile(platform()))) return [];
    const found = files.flatMap(({ text }) => (text === undefined ? [] : switchedOffIn(text)));
    found.push(...(await switchedOffElsewhere(target)));
    const isProject = files.some(({ path }) => path.startsWith(join(target.project, ".github")));
    if (isProject && !(await isTrusted(target))) found.push(UNTRUSTED);
    return found;
  },
  detect: detectBy("copilot", (target) => [homeOf(target)]),
});

// --- internal ---

const isWindows = ({ env }: InstallTarget): boolean => env["OS"] === "Windows_NT";

// The hook takes 3 ms, and Copilot waits for it; 30 s is the default
const TIMEOUT_S = 5;
const END_TIMEOUT_S = 10;
/** Older versions can refuse a whole file for one unknown event. */
const TOLERATES_UNKNOWN_SINCE = "1.0.71";

/**
 * Versions are from the changelog in 1.0.102: agentStop and subagentStop since 0.0.401, the user's hook folder since 0.0.422,
 * subagentStart since 1.0.7, postToolUseFailure since 1.0.15.
 *
 * VS Code converts names by their first letter, in some builds also userPromptSubmitted; it has no agentStop or AgentStop.
 *
 * Not registered: preCompact, permissionRequest and notification (the session file has the same facts, or spans do not need
 * them), preMcpToolCall and userPromptTransformed (their purpose is to change what is sent).
 */
const HOOKS: readonly (Hook & { readonly isForEditor?: true })[] = [
  ...adapter.hooks,
  // For VS Code, which reads this file too and has other names. In Copilot CLI, the command exits at once
  ...Object.entries(OTHER_SPELLINGS).flatMap(([name, event]) =>
    adapter.hooks
      .filter((hook) => hook.event === event)
      .map((hook) => ({
        ...hook,
        event: capitalised(name),
        since: TOLERATES_UNKNOWN_SINCE,
        isForEditor: true as const,
      })),
  ),
];

const SYSTEMS = ["posix", "windows"] as const;

/** The field with the line of each system, and the start of a line that is for the editor only. */
const SHELLS = {
  posix: { shell: "bash", unlessInCli: '[ -z "$COPILOT_CLI" ]||exit 0;' },
  windows: { shell: "powershell", unlessInCli: "if ($env:COPILOT_CLI) { exit 0 }; " },
} as const;

/** The program updates itself, so an unknown version is treated as the newest. */
function hooksFor(
  command: HookCommand,
  version: string | undefined,
  systems: readonly (typeof SYSTEMS)[number][],
  editor = true,
): readonly FlatHook[] {
  const installed = parseVersion(version ?? "");
  const isKnown = (since: string | undefined): boolean =>
    since === undefined || installed === undefined || compareVersions(since, installed) <= 0;
  return HOOKS.filter(({ since, isForEditor }) => isKnown(since) && (editor || isForEditor !== true)).map(
    ({ event, type, drain, isForEditor }) => {
      const timeoutSec = type === "session.end" ? END_TIMEOUT_S : TIMEOUT_S;
      const lines = systems.map((system) => {
        const { shell, unlessInCli } = SHELLS[system];
        return [shell, `${isForEditor ? unlessInCli : ""}${command({ source: "copilot", event, drain, system })}`];
      });
      return { event, entry: { type: "command", ...Object.fromEntries(lines), timeoutSec } };
    },
  );
}

const UNTRUSTED: Finding = {
  level: "broken",
  text: "Copilot runs a project's hooks only in trusted folders, and this folder is not trusted; start copilot here once and confirm that you trust it",
};

/** A file can switch its own hooks off. */
function switchedOffIn(text: string): readonly Finding[] {
  return asObject(settingsIn(text))?.["disableAllHooks"] === true
    ? [{ level: "broken", text: '"disableAllHooks" is true in the file, so none of its hooks run; remove that line' }]
    : [];
}

/**
 * A project's settings, also those of Claude Code, switch all hooks off, which Copilot does not report. Seen with 1.0.102 and
 * `--prompt`. The user's settings did not, although they are documented to.
 */
async function switchedOffElsewhere(target: InstallTarget): Promise<readonly Finding[]> {
  const names = ["settings.json", "settings.local.json"];
  const folders = [join(target.project, ".github", "copilot"), join(target.project, ".claude")];
  const projects = await switchingOff(folders.flatMap((folder) => names.map((name) => join(folder, name))));
  const users = await switchingOff(["settings.json", "config.json"].map((name) => join(homeOf(target), name)));
  return [
    ...projects.map((path): Finding => {
      return { level: "broken", text: `hooks are switched off: "disableAllHooks" is true in ${path}; remove it` };
    }),
    ...users.map((path): Finding => {
      const seen = "Copilot 1.0.102 ran hooks nevertheless, other versions may not";
      return { level: "remark", text: `"disableAllHooks" is true in ${path}: ${seen}` };
    }),
  ];
}

/** The files among these that contain the switch. */
async function switchingOff(paths: readonly string[]): Promise<readonly string[]> {
  const texts = await Promise.all(paths.map((path) => readSettingsText(path).then((text) => text ?? "")));
  return paths.filter((_, i) => switchedOffIn(texts[i] ?? "").length > 0);
}

/** True below a folder that the user trusts; false if the configuration cannot be read. */
async function isTrusted(target: InstallTarget): Promise<boolean> {
  const text = await readSettingsText(join(homeOf(target), "config.json"));
  if (text === undefined) return false;
  const config = asObject(settingsIn(text));
  const folders = ["trustedFolders", "trusted_folders"].flatMap((name) => asArray(config?.[name]));
  return folders.some((folder) => {
    const path = asString(folder);
    if (path === undefined) return false;
    const relativePath = relative(path, target.project);
    return relativePath === "" || (!relativePath.startsWith("..") && !isAbsolute(relativePath));
  });
}

function settingsIn(text: string): unknown {
  try {
    return plainOf(parseDocument(text.replace(/^\uFEFF/, "")));
  } catch {
    return undefined;
  }
}
