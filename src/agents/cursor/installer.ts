// https://cursor.com/docs/hooks, read 2026-11-21; others' measurements are in README.md beside this file

import { join } from "node:path";
import type { HookCommand } from "#core/model/agent.ts";
import type { Finding, InstallTarget, SettingsText } from "#core/model/installer.ts";
import { detectBy } from "../shared/settings/detect.ts";
import { oneFile } from "../shared/settings/one-file.ts";
import { adapter } from "./adapter.ts";
import { addHooks, foreignHooks, type Hook, hookedEvents, removeHooks } from "./hooks-file.ts";
import { REPLY } from "./payload.ts";

export default oneFile({
  scopes: ["user", "project"],
  path: (scope, { home, project }) => join(scope === "user" ? home : project, ".cursor", "hooks.json"),
  add: (text, { command }) => addHooks(text, hooksFor(command)),
  remove: removeHooks,
  registered: hookedEvents,
  managed: {
    // https://cursor.com/docs/hooks: enterprise hooks, read 2026-11-21
    path: (platform) =>
      platform === "win32"
        ? "C:\\ProgramData\\Cursor\\hooks.json"
        : platform === "darwin"
          ? "/Library/Application Support/Cursor/hooks.json"
          : "/etc/cursor/hooks.json",
    add: (text, command) => addHooks(text, hooksFor(command)),
    remove: removeHooks,
    registered: hookedEvents,
  },
  check: async (files) => files.flatMap(findings),
  detect: detectBy("cursor-agent", (target) => [folderOf(target)]),
});

// --- internal ---

const folderOf = ({ home }: InstallTarget): string => join(home, ".cursor");

// In seconds. The hook takes 3 ms; if it hangs on a broken disk, it must not block the agent for an unknown default time.
const TIMEOUT_S = 5;

/**
 * Only names that 3.12 and 2026.07 sent or documented: with one unknown name Cursor silently skips the whole file, including other
 * programs' hooks (observed by others with 2026.09.10).
 *
 * Not registered: duplicates of tool calls, and events with whole files, edits or thoughts.
 */
function hooksFor(command: HookCommand): readonly Hook[] {
  return adapter.hooks.map(({ event, drain }) => {
    const line = command({ source: "cursor", reply: REPLY, drain });
    return { event, entry: { command: line, timeout: TIMEOUT_S } };
  });
}

/** Hooks of other programs that make Cursor skip the whole file. */
function findings({ path, text }: SettingsText): readonly Finding[] {
  if (text === undefined || hookedEvents(text).length === 0) return [];
  return [
    ...new Map((foreignHooks(text) ?? []).flatMap((hook) => complaintOf(path, hook)).map((f) => [f.text, f])).values(),
  ];
}

function complaintOf(path: string, hook: { readonly event: string; readonly command: string | undefined }): Finding[] {
  const consequence = "Cursor therefore skips the whole file, including our hooks";
  if (!adapter.known.events.includes(hook.event)) {
    const what = `${path} has hooks for ${JSON.stringify(hook.event)}, an undocumented event`;
    return [{ level: "broken", text: `${what}; ${consequence}; remove it unless your version supports it` }];
  }
  if (/\bhttps?:\/\//.test(hook.command ?? "")) {
    const what = `${path} has a command that contains a URL, for ${hook.event}`;
    return [{ level: "broken", text: `${what}; ${consequence}; put the URL into a file or a variable` }];
  }
  return [];
}
