// https://docs.factory.ai/reference/hooks-reference.md and recordings of 0.225.2, read 2026-11-26

import { join } from "node:path";
import { detectBy } from "../shared/settings/detect.ts";
import { settingsHooks } from "../shared/settings/settings-hooks.ts";
import { adapter } from "./adapter.ts";
import { check, managedPath } from "./check.ts";

export default settingsHooks({
  // Not registered: Notification and SubagentStop, which a trace does not need
  adapter,
  path: (scope, target) => join(scope === "user" ? target.home : target.project, ".factory", "settings.json"),
  entry: (line, { type }) => ({
    type: "command",
    command: line,
    timeout: type === "session.end" ? END_TIMEOUT_S : TIMEOUT_S,
  }),
  check,
  // Where the program 0.225.2 reads an administrator's settings, with `hooks` among them; read 2026-11-27, not run
  managedPath,
  detect: detectBy("droid", ({ home }) => [join(home, ".factory")]),
});

// --- internal ---

// The hook takes 3 ms; the default is 60 s, too long if a hook hangs
const TIMEOUT_S = 5;
const END_TIMEOUT_S = 10;
