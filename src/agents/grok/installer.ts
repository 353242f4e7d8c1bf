// The guide that 1.0.41 unpacks (10-hooks.md), read 2026-11-26; what was tried: README.md beside this file

import { join, resolve } from "node:path";
import type { Finding, InstallTarget } from "#core/model/installer.ts";
import { readSettingsText } from "#kit/open.ts";
import { detectBy } from "../shared/settings/detect.ts";
import { settingsHooks } from "../shared/settings/settings-hooks.ts";
import { adapter } from "./adapter.ts";

/** A file of our own: Grok reads all JSON files in the folder. */
export default settingsHooks({
  // Grok skips names that it does not know. Not registered: compactions and notifications, which a trace does not need
  adapter,
  path: (scope, target) =>
    join(scope === "user" ? homeOf(target) : join(target.project, ".grok"), "hooks", "openhook-otel.json"),
  // Without a matcher a hook runs for every tool and every reason
  entry: (line, { type }) => ({
    type: "command",
    command: line,
    timeout: type === "session.end" ? END_TIMEOUT_S : TIMEOUT_S,
  }),
  async check(files, target) {
    const isProject = files.some(({ path }) => path.startsWith(join(target.project, ".grok")));
    const trusted = (await readSettingsText(join(homeOf(target), "trusted_folders.toml"))) ?? "";
    return isProject && !trusted.includes(target.project) ? [UNTRUSTED] : [];
  },
  detect: detectBy("grok", (target) => [join(homeOf(target), "sessions")]),
});

// --- internal ---

function homeOf({ home, project, env }: InstallTarget): string {
  const moved = env["GROK_HOME"];
  return moved === undefined || moved === "" ? join(home, ".grok") : resolve(project, moved);
}

const UNTRUSTED: Finding = {
  level: "broken",
  text: "Grok runs a project's hooks only in trusted folders, and this one is not in trusted_folders.toml; start grok here and enter /hooks-trust",
};

// The hook takes 3 ms. Some events have a default of 600 s, too long if a hook hangs; SessionEnd has 1.5 s, too short on a busy machine
const TIMEOUT_S = 5;
const END_TIMEOUT_S = 10;
