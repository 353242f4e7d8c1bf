// https://github.com/charmbracelet/crush docs/hooks/README.md, read 2026-11-21; tried with 0.90.0

import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { HookCommand } from "#core/model/agent.ts";
import type { InstallTarget } from "#core/model/installer.ts";
import { detectBy } from "../shared/settings/detect.ts";
import { type EntryFile, entriesOfOurs, listsOfOurs, putEntries, removeEntries } from "../shared/settings/entries.ts";
import { nodeAt, propertiesOf } from "../shared/settings/jsonc.ts";
import { oneFile } from "../shared/settings/one-file.ts";
import { isOurCommand } from "../shared/settings/settings.ts";
import { adapter } from "./adapter.ts";

export default oneFile({
  scopes: ["user", "project"],
  path: (scope, target) => (scope === "user" ? join(configFolder(target), NAME) : projectFile(target)),
  add: (text, { command }) => putEntries(text, [{ path: ["hooks", EVENT], entries: [entryFor(command)] }], FILE),
  remove(text) {
    const edited = removeEntries(text, FILE);
    return edited !== text && /^\s*\{\s*\}\s*$/.test(edited ?? "") ? undefined : edited;
  },
  registered: (text) =>
    entriesOfOurs(text, FILE).length === 0 ? [] : listsOfOurs(text, FILE).map((path) => path.at(-1) ?? ""),
  detect: detectBy("crush", (target) => [configFolder(target)]),
});

// --- internal ---

const NAME = "crush.json";

/** The only event of the recorded version. Others are accepted and never sent. */
const EVENT: keyof typeof adapter.events = "PreToolUse";

/** In seconds; the default of 30 is too long if the hook hangs on a broken disk. */
const TIMEOUT_S = 5;

/**
 * No event reports an end. A drain some seconds later reads it from the database, once for all calls until then.
 */
const entryFor = (command: HookCommand) => ({
  name: "openhook-otel",
  command: command({ source: adapter.source, drain: "soon" }),
  timeout: TIMEOUT_S,
});

const FILE: EntryFile = {
  emptyDocument: {},
  lists: (root) =>
    propertiesOf(nodeAt(root, ["hooks"])).flatMap(({ key, value }) => (value.type === "array" ? [["hooks", key]] : [])),
  isOurs: ({ command }) => typeof command === "string" && isOurCommand(command),
  removesEmpty: true,
  hooksOnly: false,
};

function configFolder({ home, env }: InstallTarget): string {
  const own = env["CRUSH_GLOBAL_CONFIG"];
  if (own !== undefined && isAbsolute(own)) return own;
  const moved = env["XDG_CONFIG_HOME"];
  return join(moved !== undefined && isAbsolute(moved) ? moved : join(home, ".config"), "crush");
}

/** Crush merges both files of a project. The hidden one is used only if the other one does not exist. */
function projectFile({ project }: InstallTarget): string {
  const [shown, hidden] = [join(project, NAME), join(project, `.${NAME}`)];
  return !existsSync(shown) && existsSync(hidden) ? hidden : shown;
}
