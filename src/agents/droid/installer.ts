// https://docs.factory.ai/reference/hooks-reference.md and recordings of 0.225.2, read 2026-11-26

import { join } from "node:path";
import type { HookCommand } from "../../model/agent.ts";
import { detectBy } from "../shared/settings/detect.ts";
import { type HookEvent, registrationsOf } from "../shared/settings/hook-events.ts";
import { oneFile } from "../shared/settings/one-file.ts";
import {
  addRegistrations,
  type Registration,
  registeredEvents,
  removeRegistrations,
} from "../shared/settings/settings.ts";
import { check, managedPath } from "./check.ts";

export default oneFile({
  scopes: ["user", "project"],
  path: (scope, target) => join(scope === "user" ? target.home : target.project, ".factory", "settings.json"),
  add: (text, { command }) => addRegistrations(text, registrationsFor(command)),
  remove: removeRegistrations,
  registered: registeredEvents,
  check,
  managed: {
    // Where the program 0.225.2 reads an administrator's settings, with `hooks` among them; read 2026-11-27, not run
    path: managedPath,
    add: (text, command) => addRegistrations(text, registrationsFor(command)),
    remove: removeRegistrations,
    registered: registeredEvents,
  },
  detect: detectBy("droid", ({ home }) => [join(home, ".factory")]),
});

// --- internal ---

// The hook takes 3 ms; the default is 60 s, too long if a hook hangs
const TIMEOUT_S = 5;
const END_TIMEOUT_S = 10;

/** Not registered: Notification and SubagentStop, which a trace does not need. */
const EVENTS: readonly HookEvent[] = [
  { event: "SessionStart", drain: "if-waiting" },
  { event: "UserPromptSubmit", drain: "no" },
  { event: "PreToolUse", drain: "no", matcher: "*" },
  { event: "PostToolUse", drain: "no", matcher: "*" },
  { event: "PreCompact", drain: "no" },
  { event: "Stop", drain: "yes" },
  { event: "SessionEnd", drain: "yes" },
];

const registrationsFor = (command: HookCommand): readonly Registration[] =>
  registrationsOf("droid", EVENTS, command, (line, { event }) => ({
    type: "command",
    command: line,
    timeout: event === "SessionEnd" ? END_TIMEOUT_S : TIMEOUT_S,
  }));
