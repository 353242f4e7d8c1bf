// https://geminicli.com/docs/hooks/ and the source of 0.21.3, 0.25.0, 0.26.0 and 0.61.0, read 2026-11-21

import { join } from "node:path";
import { detectBy } from "../shared/settings/detect.ts";
import { settingsHooks } from "../shared/settings/settings-hooks.ts";
import { adapter } from "./adapter.ts";
import { check } from "./check.ts";
import { HOOK_NAME, homeOf, NOT_EVENTS, settingsPath, systemSettingsPath } from "./settings.ts";

export default settingsHooks({
  /**
   * Every version that has hooks knows all these names, so the set does not depend on the version. For an unknown name Gemini CLI
   * prints a warning and continues.
   *
   * Not registered: BeforeModel, AfterModel and BeforeToolSelection (each payload is the whole conversation, AfterModel is sent
   * for every chunk, and the session file has the tokens), PreCompress (sent before every request, compressed or not),
   * Notification (only reports that the user was asked for permission, which the call's duration includes).
   */
  adapter,
  path: settingsPath,
  // Without a matcher a hook runs for every tool and every origin. Async hooks do not exist
  entry: (line) => ({ type: "command", name: HOOK_NAME, command: line, timeout: TIMEOUT_MS }),
  notEvents: NOT_EVENTS,
  check,
  // https://geminicli.com/docs/cli/enterprise/: the system settings file, whose lists are merged, read 2026-11-27; not run
  managedPath: (platform) => systemSettingsPath({ env: {} }, platform),
  // Other programs create the folder too, so it does not prove that Gemini CLI is installed
  detect: detectBy("gemini", (target) => ["settings.json", "tmp"].map((name) => join(homeOf(target), ".gemini", name))),
});

// --- internal ---

// Milliseconds, unlike other agents. The default is 60 s: too long if a hook hangs.
const TIMEOUT_MS = 5_000;
