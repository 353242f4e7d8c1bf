// https://code.claude.com/docs/en/mcp and /skills, read 2026-11-30. Servers of plugins and of claude.ai are in no settings of users

import { join } from "node:path";
import type { Configured } from "#core/model/configured.ts";
import { configuredIn } from "../shared/settings/configured.ts";
import { configDirOf } from "./settings.ts";

export default {
  namedInCalls: { mcp: true, skill: true },
  find(target) {
    const { home, project, env } = target;
    const state = join(env["CLAUDE_CONFIG_DIR"] ? configDirOf(target) : home, ".claude.json");
    return configuredIn({
      servers: [
        [state, "mcpServers"],
        [state, "projects", project, "mcpServers"],
        [join(project, ".mcp.json"), "mcpServers"],
      ],
      skills: [join(configDirOf(target), "skills"), join(project, ".claude", "skills")],
      serverName: (name) => name.replaceAll(/[^A-Za-z0-9_-]/g, "_"),
    });
  },
} satisfies Configured;
