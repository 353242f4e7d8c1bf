// https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot, read 2026-11-30. Sessions have the servers' own names

import { join } from "node:path";
import type { Configured } from "#core/model/configured.ts";
import { configuredIn } from "../shared/settings/configured.ts";

export default {
  namedInCalls: { mcp: true, skill: true },
  find({ home, project, env }) {
    const folder = env["COPILOT_HOME"] || join(home, ".copilot");
    const shared = [".github", ".agents", ".claude"].map((name) => join(project, name));
    return configuredIn({
      servers: [
        [join(folder, "mcp-config.json"), "mcpServers"],
        [join(project, ".mcp.json"), "mcpServers"],
        [join(project, ".github", "mcp.json"), "mcpServers"],
      ],
      skills: [folder, ...shared].map((place) => join(place, "skills")),
    });
  },
} satisfies Configured;
