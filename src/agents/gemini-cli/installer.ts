// https://geminicli.com/docs/hooks/ and the source of 0.21.3, 0.25.0, 0.26.0 and 0.61.0, read 2026-11-21
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
import { check } from "./check.ts";
import { HOOK_NAME, homeOf, NOT_EVENTS, settingsPath } from "./settings.ts";

export default oneFile({
  scopes: ["user", "project"],
  path: settingsPath,
  add: (text, { command }) => addRegistrations(text, registrationsFor(command), NOT_EVENTS),
  remove: (text) => removeRegistrations(text, NOT_EVENTS),
  registered: registeredEvents,
  check,
  async detect(target) {
    const version = await versionOf(PROGRAM, target.env);
    if (version !== undefined) return { present: true, version };
    // The folder alone may be another program's
    const folder = join(homeOf(target), ".gemini");
    return { present: (await exists(join(folder, "settings.json"))) || (await exists(join(folder, "tmp"))) };
  },
});

// --- internal ---

const PROGRAM = "gemini";

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

interface Wish {
  readonly event: string;
  readonly drain: "yes" | "if-waiting" | "no";
}

// In milliseconds, other than elsewhere. Without one a hook that hangs would hold the agent for its default of 60 s.
const TIMEOUT_MS = 5_000;

/**
 * The events worth having. Every version that has hooks knows all eleven names, so the version does not matter; what one
 * does not know it would say on the terminal and go on.
 *
 * Left out on purpose: BeforeModel, AfterModel and BeforeToolSelection (each payload is the whole conversation, AfterModel
 * comes per chunk of an answer, and the session file has the tokens), PreCompress (comes before every request, compressed
 * or not), Notification (says that the user was asked, which the length of the call shows).
 */
const WISHES: readonly Wish[] = [
  { event: "SessionStart", drain: "if-waiting" },
  { event: "BeforeAgent", drain: "no" },
  { event: "BeforeTool", drain: "no" },
  { event: "AfterTool", drain: "no" },
  { event: "AfterAgent", drain: "yes" },
  { event: "SessionEnd", drain: "yes" },
];

/** No matcher: the hook runs for every tool and every origin. There are no async hooks. */
const registrationsFor = (command: HookCommand): readonly Registration[] =>
  WISHES.map(({ event, drain }) => ({
    event,
    entry: {
      type: "command",
      name: HOOK_NAME,
      command: callable(command({ source: "gemini-cli", drain })),
      timeout: TIMEOUT_MS,
    },
  }));

/** On Windows the agent's shell is PowerShell, to which a quoted word is a text unless it is called. */
const callable = (line: string): string => (line.startsWith('"') ? `& ${line}` : line);
