// https://docs.augmentcode.com/cli/hooks.md and the program 0.36.0, read 2026-11-26
import { join } from "node:path";
import { detectBy } from "../shared/settings/detect.ts";
import { settingsHooks } from "../shared/settings/settings-hooks.ts";
import { adapter } from "./adapter.ts";

export default settingsHooks({
  // An unknown name only causes a warning. Not registered: Notification, which a trace does not need
  adapter,
  path: (scope, target) => join(scope === "user" ? target.home : target.project, ".augment", "settings.json"),
  // Without a matcher a hook runs for every tool
  entry: (line) => ({ type: "command", command: line, timeout: TIMEOUT_MS }),
  // The same page and https://docs.augmentcode.com/cli/settings, read 2026-11-27: hooks of all files run, and this one cannot be
  // overridden
  managedPath: (platform) =>
    platform === "win32" ? "C:\\ProgramData\\Augment\\settings.json" : "/etc/augment/settings.json",
  detect: detectBy("auggie", ({ home }) => [join(home, ".augment")]),
});

// --- internal ---

/** In milliseconds. The hook takes 3 ms; the default is 60 s, too long if a hook hangs. */
const TIMEOUT_MS = 5_000;
