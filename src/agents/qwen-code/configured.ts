// https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp and /skills, read 2026-11-30

import { join } from "node:path";
import type { Configured } from "#core/model/configured.ts";
import { configuredIn } from "../shared/settings/configured.ts";

export default {
  namedInCalls: { mcp: true, skill: true },
  find({ home, project, env }) {
    const folders = [env["QWEN_HOME"] || join(home, ".qwen"), join(project, ".qwen")];
    return configuredIn({
      servers: folders.map((folder) => [join(folder, "settings.json"), "mcpServers"] as const),
      skills: folders.map((folder) => join(folder, "skills")),
      serverName: (name) => name.replaceAll(/[^A-Za-z0-9_-]/g, "_"),
    });
  },
} satisfies Configured;
