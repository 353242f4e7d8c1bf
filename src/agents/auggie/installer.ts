// https://docs.augmentcode.com/cli/hooks.md and the program 0.36.0, read 2026-11-26
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { HookCommand } from "../../model/agent.ts";
import { versionOf } from "../shared/payload/version.ts";
import { oneFile } from "../shared/settings/one-file.ts";
import {
  addRegistrations,
  type Registration,
  registeredEvents,
  removeRegistrations,
} from "../shared/settings/settings.ts";
import { SOURCE } from "./adapter.ts";

export default oneFile({
  scopes: ["user", "project"],
  path: (scope, target) => join(scope === "user" ? target.home : target.project, ".augment", "settings.json"),
  add: (text, { command }) => addRegistrations(text, registrationsFor(command)),
  remove: removeRegistrations,
  registered: registeredEvents,
  async detect(target) {
    const version = await versionOf("auggie", target.env);
    if (version !== undefined) return { present: true, version };
    return { present: await isFolder(join(target.home, ".augment")) };
  },
});

// --- internal ---

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** In milliseconds. The hook takes 3 ms; the default is 60 s, too long if a hook hangs. */
const TIMEOUT_MS = 5_000;

/** An unknown name only causes a warning. Not registered: Notification, which a trace does not need. */
const EVENTS: readonly { readonly event: string; readonly drain: "yes" | "if-waiting" | "no" }[] = [
  { event: "SessionStart", drain: "if-waiting" },
  { event: "PromptSubmit", drain: "no" },
  { event: "PreToolUse", drain: "no" },
  { event: "PostToolUse", drain: "no" },
  { event: "Stop", drain: "yes" },
  { event: "SessionEnd", drain: "yes" },
];

/** Without a matcher a hook runs for every tool. */
const registrationsFor = (command: HookCommand): readonly Registration[] =>
  EVENTS.map(({ event, drain }) => ({
    event,
    entry: { type: "command", command: command({ source: SOURCE, drain }), timeout: TIMEOUT_MS },
  }));
