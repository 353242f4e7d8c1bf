// https://docs.github.com/en/copilot/reference/hooks-configuration, read 2026-11-21; what each version does: README.md beside this file
import { readFile, stat } from "node:fs/promises";
import { isAbsolute, join, relative, resolve } from "node:path";
import type { Finding, HookCommand, InstallTarget } from "../../model/agent.ts";
import { asArray, asObject, asString } from "../shared/payload/json.ts";
import { compareVersions, parseVersion, versionOf } from "../shared/payload/version.ts";
import { parseDocument, plainOf } from "../shared/settings/jsonc.ts";
import { oneFile } from "../shared/settings/one-file.ts";
import { addHooks, type FlatHook, hookEventsIn, removeHooks } from "./hook-file.ts";

export default oneFile({
  scopes: ["user", "project"],
  path(scope, target) {
    const folder = scope === "user" ? join(homeOf(target), "hooks") : join(target.project, ".github", "hooks");
    return join(folder, "openhook-otel.json");
  },
  add: (text, { command, version, target }) => addHooks(text, hooksFor(command, version, isWindows(target))),
  remove: removeHooks,
  registered: hookEventsIn,
  async check(files, target) {
    const found = files.flatMap(({ text }) => (text === undefined ? [] : offSwitch(text)));
    const isProject = files.some(({ path }) => path.startsWith(join(target.project, ".github")));
    if (isProject && !(await isTrusted(target))) found.push(UNTRUSTED);
    return found;
  },
  async detect(target) {
    const version = await versionOf("copilot", target.env);
    if (version !== undefined) return { present: true, version };
    return { present: await isDirectory(homeOf(target)) };
  },
});

// --- internal ---

function homeOf({ home, project, env }: InstallTarget): string {
  const moved = env["COPILOT_HOME"];
  return moved === undefined || moved === "" ? join(home, ".copilot") : resolve(project, moved);
}

const isWindows = ({ env }: InstallTarget): boolean => env["OS"] === "Windows_NT";

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

interface Wish {
  readonly event: string;
  readonly drain: "yes" | "if-waiting" | "no";
  readonly timeoutSec: number;
  /** The oldest version that is known to know the event. */
  readonly since: string;
}

// The hook takes 3 ms, and Copilot waits for it; 30 s is the default
const TIMEOUT_S = 5;
const OLDEST = "0.0.0";

/**
 * The events worth having, by the changelog that 1.0.102 ships: agentStop and subagentStop since 0.0.401, the user's hook
 * folder since 0.0.422, subagentStart since 1.0.7, postToolUseFailure since 1.0.15. Before 1.0.71 one entry that a version
 * does not understand can cost the whole file.
 *
 * Left out on purpose: preCompact, permissionRequest and notification (the session file tells, or nothing in them that a span
 * would say), preMcpToolCall and userPromptTransformed (they are there to change what is sent).
 */
const WISHES: readonly Wish[] = [
  { event: "sessionStart", drain: "if-waiting", timeoutSec: TIMEOUT_S, since: OLDEST },
  { event: "userPromptSubmitted", drain: "no", timeoutSec: TIMEOUT_S, since: OLDEST },
  { event: "preToolUse", drain: "no", timeoutSec: TIMEOUT_S, since: OLDEST },
  { event: "postToolUse", drain: "no", timeoutSec: TIMEOUT_S, since: OLDEST },
  { event: "postToolUseFailure", drain: "no", timeoutSec: TIMEOUT_S, since: "1.0.15" },
  { event: "errorOccurred", drain: "no", timeoutSec: TIMEOUT_S, since: OLDEST },
  { event: "agentStop", drain: "yes", timeoutSec: TIMEOUT_S, since: "0.0.401" },
  { event: "subagentStart", drain: "no", timeoutSec: TIMEOUT_S, since: "1.0.7" },
  { event: "subagentStop", drain: "no", timeoutSec: TIMEOUT_S, since: "0.0.401" },
  { event: "sessionEnd", drain: "yes", timeoutSec: 10, since: OLDEST },
];

/** The program updates itself, so an unknown version is taken for a new one. */
function hooksFor(command: HookCommand, version: string | undefined, windows: boolean): readonly FlatHook[] {
  const installed = parseVersion(version ?? "");
  return WISHES.filter(({ since }) => installed === undefined || compareVersions(since, installed) <= 0).map(
    ({ event, drain, timeoutSec }) => {
      const line = command({ source: "copilot", event, drain });
      // A hook that fails denies the tool, so the shell has the last word
      const shell = windows ? { powershell: `& ${line}; exit 0` } : { bash: line };
      return { event, entry: { type: "command", ...shell, timeoutSec } };
    },
  );
}

const UNTRUSTED: Finding = {
  level: "broken",
  text: "Copilot runs a project's hooks in trusted folders only, and this one is none; start copilot here once and say yes to the question",
};

/** A file can switch its own hooks off. */
function offSwitch(text: string): readonly Finding[] {
  return asObject(settingsIn(text))?.["disableAllHooks"] === true
    ? [{ level: "broken", text: 'the file says "disableAllHooks": true, so none of its hooks run; take that out' }]
    : [];
}

/** Below a folder that the user trusts. What cannot be read says nothing: then there is nothing to tell either. */
async function isTrusted(target: InstallTarget): Promise<boolean> {
  const text = await readFile(join(homeOf(target), "config.json"), "utf8").catch(() => undefined);
  if (text === undefined) return false;
  const config = asObject(settingsIn(text));
  const folders = ["trustedFolders", "trusted_folders"].flatMap((name) => asArray(config?.[name]));
  return folders.some((folder) => {
    const path = asString(folder);
    if (path === undefined) return false;
    const below = relative(path, target.project);
    return below === "" || (!below.startsWith("..") && !isAbsolute(below));
  });
}

function settingsIn(text: string): unknown {
  try {
    return plainOf(parseDocument(text.replace(/^\uFEFF/, "")));
  } catch {
    return undefined;
  }
}
