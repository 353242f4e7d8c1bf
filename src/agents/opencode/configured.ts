// https://opencode.ai/docs/mcp-servers and /skills, read 2026-11-30. Names of tools begin with the server's, so that it is not certain which it was

import { join } from "node:path";
import type { Configured } from "#core/model/configured.ts";
import { configuredIn } from "../shared/settings/configured.ts";

export default {
  namedInCalls: { mcp: false, skill: true },
  find({ home, project, env }) {
    const folder = join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "opencode");
    const own = [folder, join(project, ".opencode")].flatMap((place) => [join(place, "skill"), join(place, "skills")]);
    const shared = [home, project].flatMap((place) => [
      join(place, ".claude", "skills"),
      join(place, ".agents", "skills"),
    ]);
    return configuredIn({
      servers: [folder, project].flatMap((place) =>
        ["opencode.json", "opencode.jsonc"].map((name) => [join(place, name), "mcp"] as const),
      ),
      skills: [...own, ...shared],
    });
  },
} satisfies Configured;
