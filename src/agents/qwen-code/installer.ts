// https://qwenlm.github.io/qwen-code-docs/en/users/features/hooks/ and the program 0.24.4, read 2026-11-26

import { join } from "node:path";
import { detectBy } from "../shared/settings/detect.ts";
import { settingsHooks } from "../shared/settings/settings-hooks.ts";
import { adapter } from "./adapter.ts";
import { check } from "./check.ts";
import { folderOf, HOOK_NAME, NOT_EVENTS, settingsPath, systemSettingsPath } from "./settings.ts";

export default settingsHooks({
  adapter,
  path: settingsPath,
  /**
   * An unknown name only causes a warning.
   *
   * Not registered: MessageDisplay, InstructionsLoaded, PostCompact, the events of todos and SessionDelete, which a trace does not
   * need; PermissionRequest and Notification, which only say that the user was asked.
   */
  events: [
    { event: "SessionStart", drain: "if-waiting" },
    { event: "UserPromptSubmit", drain: "no" },
    { event: "PreToolUse", drain: "no" },
    { event: "PostToolUse", drain: "no" },
    { event: "PostToolUseFailure", drain: "no" },
    { event: "PostToolBatch", drain: "no" },
    { event: "SubagentStart", drain: "no" },
    { event: "SubagentStop", drain: "no" },
    { event: "PreCompact", drain: "no" },
    { event: "Stop", drain: "yes" },
    { event: "StopFailure", drain: "yes" },
    { event: "SessionEnd", drain: "yes" },
  ],
  // Without a matcher a hook runs for every tool and every origin. No time limit: versions disagree about its unit
  entry: (line) => ({ type: "command", name: HOOK_NAME, command: line }),
  notEvents: NOT_EVENTS,
  check,
  // https://qwenlm.github.io/qwen-code-docs/en/users/configuration/settings: the system settings file; 0.24.4 ran its hooks and
  // the user's on 2026-11-27
  managedPath: (platform) => systemSettingsPath({ env: {} }, platform),
  detect: detectBy("qwen", (target) => [join(folderOf(target), "settings.json")]),
});
