// https://code.claude.com/docs/en/hooks, read 2026-11-21; behaviour of each version: README.md beside this file

import { posix, win32 } from "node:path";
import type { HookCommand } from "#core/model/agent.ts";
import { compareVersions, parseVersion } from "../shared/payload/version.ts";
import { detectBy } from "../shared/settings/detect.ts";
import { oneFile } from "../shared/settings/one-file.ts";
import {
  addRegistrations,
  type Registration,
  registeredEvents,
  registrationsOf,
  removeRegistrations,
} from "../shared/settings/settings.ts";
import { adapter } from "./adapter.ts";
import { check, managedFolder } from "./check.ts";
import { configDirOf, settingsPath } from "./settings.ts";
import { addStatusLine, removeStatusLine, statusLineOwner } from "./status-line.ts";

export default oneFile({
  scopes: ["user", "project"],
  path: settingsPath,
  add(text, { command, version, statusLine }) {
    const registered = addRegistrations(text, registrationsFor(command, version));
    return statusLine === undefined ? registered : addStatusLine(registered, statusLine, version);
  },
  remove(text) {
    const left = removeRegistrations(text);
    return left === undefined ? undefined : removeStatusLine(left);
  },
  statusLine: ([settings]) => (settings?.text === undefined ? undefined : statusLineOwner(settings.text)),
  registered: registeredEvents,
  check,
  managed: {
    // https://code.claude.com/docs/en/settings: files in managed-settings.d are merged, read 2026-11-27. Windows' former
    // place in ProgramData is not read since 2.1.75
    path: (platform) =>
      (platform === "win32" ? win32 : posix).join(managedFolder(platform), "managed-settings.d", "openhook-otel.json"),
    // A file that contains only our hooks. Versions that read the folder know all events
    add: (_, command) => addRegistrations(undefined, registrationsFor(command, "2.1.80")),
    remove: () => undefined,
    registered: registeredEvents,
  },
  detect: detectBy("claude", (target) => [configDirOf(target)]),
});

// --- internal ---

// The hook takes 3 ms. Without our timeout, a hook that hangs (a home on a dead network disk) would block the agent for
// its default of 600 s.
const TIMEOUT_S = 5;
// Without an explicit timeout a SessionEnd hook is killed after 1.5 s, on a busy machine before it has read stdin
const END_TIMEOUT_S = 10;

/**
 * Since which version there is an event was read on 2026-11-21 from the list of hook events in each version's program:
 * - 1.0.80: PreToolUse PostToolUse Notification UserPromptSubmit SessionStart Stop SubagentStop PreCompact
 * - 1.0.128, 2.0.0, 2.0.42: and SessionEnd · 2.0.55: and SubagentStart PermissionRequest
 * - 2.0.77: and PostToolUseFailure · 2.1.29: and Setup · 2.1.80: and StopFailure PostCompact …
 * - 2.1.100: and PermissionDenied TaskCreated … · 2.1.197, 2.1.329: and PostToolBatch
 *
 * This matters because with one unknown name, 2.0.42, 2.0.77, 2.1.29 and 2.1.100 silently ran no hook at all, not even other
 * programs' hooks. 2.1.197 and 2.1.329 skip only the unknown entry. Each version ran all hooks that are selected for it.
 *
 * Not registered: PostToolBatch (the only hook for the end of a denied tool, but the transcript has that too, and the agent would
 * wait for a third hook at every tool), PreCompact (`/compact` prints the command line of each of its hooks to the user and
 * the model; the transcript has the compaction), WorktreeCreate (a hook replaces the creation: `claude -w` fails),
 * MessageDisplay (per chunk, in the foreground), Notification, InstructionsLoaded and others (not needed for spans).
 *
 * Never `async`: 2.1.197 starts an async SessionEnd hook with empty stdin, and kills other async hooks at exit.
 */
function registrationsFor(command: HookCommand, version: string | undefined): readonly Registration[] {
  const installed = parseVersion(version ?? "") ?? ASSUMED_VERSION;
  const hooks = adapter.hooks.filter(({ since }) => since === undefined || compareVersions(since, installed) <= 0);
  const inSh: HookCommand = (options) => command({ ...options, shell: "sh" });
  return registrationsOf({ source: adapter.source, hooks }, inSh, (line, { type }) => ({
    type: "command",
    command: line,
    timeout: type === "session.end" ? END_TIMEOUT_S : TIMEOUT_S,
  }));
}

// Assumed for an unknown version: all later versions support the same events.
const ASSUMED_VERSION = "2.0.0";
