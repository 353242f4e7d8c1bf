import type { Agent } from "#core/model/agent.ts";
import { adapter } from "./adapter.ts";
import { toContent } from "./content.ts";
import { toFileWrites } from "./file-writes.ts";
import { COPILOT_NAMES } from "./own-names.ts";

export default {
  ...adapter,
  title: "GitHub Copilot CLI",
  otherNames: ["gh-copilot"],
  docs: "https://docs.github.com/en/copilot/reference/hooks-configuration",
  emits: ["file.write", ...adapter.emits],
  tokens: "transcript",
  endsBeforeSubagents: true,
  hooksNameAgents: true,
  capabilities: {
    basis: "recorded",
    versions: "1.0.50 to 1.0.102",
    subagents: true,
    sessionIds: "native",
    callIds: "transcript",
    eventIds: "payload",
  },
  own: COPILOT_NAMES,
  environment: ["COPILOT_HOME", "COPILOT_CLI", "COPILOT_CLI_BINARY_VERSION"],
  toContent,
  toFileWrites,
  sessionsBelow: [".copilot"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
} satisfies Agent;
