// https://developers.openai.com/codex/mcp, read 2026-11-30; names of servers as 0.171.0 writes them. The model reads skills with a shell

import { join } from "node:path";
import type { Configured } from "#core/model/configured.ts";
import { configuredIn } from "../shared/settings/configured.ts";

export default {
  namedInCalls: { mcp: true, skill: false },
  find({ home, project, env }) {
    const folder = env["CODEX_HOME"] || join(home, ".codex");
    return configuredIn({
      servers: [
        [join(folder, "config.toml"), "mcp_servers"],
        [join(project, ".codex", "config.toml"), "mcp_servers"],
      ],
      skills: [folder, join(home, ".agents"), join(project, ".agents")].map((place) => join(place, "skills")),
      serverName: (name) => name.replaceAll(/[^A-Za-z0-9_]/g, "_"),
    });
  },
} satisfies Configured;
