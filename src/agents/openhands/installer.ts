// openhands/sdk/hooks of openhands-sdk 1.21.0, read 2026-11-26; tried with 1.16.0
import { join } from "node:path";
import type { HookCommand } from "#core/model/agent.ts";
import type { Finding, InstallTarget, SettingsText } from "#core/model/installer.ts";
import { readSettingsText } from "#kit/open.ts";
import { detectBy } from "../shared/settings/detect.ts";
import { oneFile } from "../shared/settings/one-file.ts";
import { type Registration, registrationsOf } from "../shared/settings/settings.ts";
import { adapter } from "./adapter.ts";
import { addHooks, hasOthers, hooksIn, refusedIn, removeHooks } from "./hooks-file.ts";

export default oneFile({
  scopes: ["user", "project"],
  path: pathOf,
  add: (text, { command }) => addHooks(text, registrationsFor(command)),
  remove: removeHooks,
  registered: (text) => hooksIn(text, NAMES),
  check: async (files, target) => [...refused(files), ...(await replaced(files, target))],
  detect: detectBy("openhands", ({ home }) => [join(home, FOLDER, "conversations")]),
});

// --- internal ---

const FOLDER = ".openhands";
const NAMES = adapter.known.events;

// The hook takes 3 ms; the default is 60 s, too long if a hook hangs
const TIMEOUT_S = 5;
const END_TIMEOUT_S = 10;

/** Without a matcher a hook runs for every tool. */
const registrationsFor = (command: HookCommand): readonly Registration[] =>
  registrationsOf(adapter, command, (line, { type }) => ({
    type: "command",
    command: line,
    timeout: type === "session.end" ? END_TIMEOUT_S : TIMEOUT_S,
  }));

function pathOf(scope: "user" | "project", { home, project }: InstallTarget): string {
  return join(scope === "user" ? home : project, FOLDER, "hooks.json");
}

/** OpenHands refuses a file with an unknown event. */
const refused = (files: readonly SettingsText[]): readonly Finding[] =>
  files.flatMap(({ path, text }) =>
    refusedIn(text ?? "", NAMES)
      .slice(0, 1)
      .map((name) => ({
        level: "broken",
        text: `OpenHands refuses ${path}: it knows no event ${JSON.stringify(name.slice(0, MAX_NAME))}, or has it twice; remove it`,
      })),
  );
const MAX_NAME = 60;

/** A project's file replaces the user's, also for hooks of others. */
async function replaced(files: readonly SettingsText[], target: InstallTarget): Promise<readonly Finding[]> {
  const [user, project] = [pathOf("user", target), pathOf("project", target)];
  const isProject = files.some(({ path }) => path === project);
  if (user === project) return [];
  const other = await readSettingsText(isProject ? user : project);
  if (other === undefined) return [];
  if (isProject) return hasOthers(other) ? [{ level: "remark", text: `${project} replaces the hooks in ${user}` }] : [];
  return hooksIn(other, NAMES).length > 0
    ? []
    : [
        {
          level: "broken",
          text: `${project} replaces the user's hooks in this project; enable it here with --scope project`,
        },
      ];
}
