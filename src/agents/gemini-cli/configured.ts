// https://geminicli.com/docs/tools/mcp-server and /cli/skills, read 2026-11-30. Hooks and sessions have the servers' own names

import { join } from "node:path";
import type { Configured } from "#core/model/configured.ts";
import { configuredIn } from "../shared/settings/configured.ts";

export default {
  namedInCalls: { mcp: true, skill: true },
  find({ home, project, env }) {
    const folders = [join(env["GEMINI_CLI_HOME"] || home, ".gemini"), join(project, ".gemini")];
    return configuredIn({
      servers: folders.map((folder) => [join(folder, "settings.json"), "mcpServers"] as const),
      skills: [...folders, join(home, ".agents"), join(project, ".agents")].map((folder) => join(folder, "skills")),
    });
  },
} satisfies Configured;
