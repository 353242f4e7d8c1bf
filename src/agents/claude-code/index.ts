import type { Agent } from "#core/model/agent.ts";
import { CLAUDE_NAMES } from "../shared/names/own-names.ts";
import { hookContent } from "../shared/payload/content.ts";
import { adapter } from "./adapter.ts";
import { toFileWrites } from "./file-writes.ts";

export default {
  ...adapter,
  title: "Claude Code",
  otherNames: ["anthropic"],
  docs: "https://code.claude.com/docs/en/hooks",
  provider: "anthropic",
  emits: ["file.write", ...adapter.emits],
  tokens: "transcript",
  // Earlier versions name neither agents nor prompts
  hooksNameAgents: "with-prompts",
  capabilities: {
    basis: "recorded",
    versions: "1.0.80 to 2.1.332",
    subagents: true,
    sessionIds: "native",
    callIds: "native",
    eventIds: "arrival",
  },
  setsVariablesFrom: [".claude/settings.json", ".claude/settings.local.json"],
  own: CLAUDE_NAMES,
  // Seen with 2.1.329: only its sums of the session have the search, its tokens and its fee
  searchTools: ["WebSearch"],
  environment: ["CLAUDE_CODE_SESSION_ID", "CLAUDE_PID", "CLAUDE_PROJECT_DIR", "CLAUDE_CONFIG_DIR"],
  // Seen with 2.1.332: its hooks have these too
  inCommands: { session: ["CLAUDE_CODE_SESSION_ID"], inOwnHooks: true, shells: ["Bash", "PowerShell"] },
  toContent: hookContent,
  toFileWrites,
  sessionFolders: ["projects"],
  sessionsBelow: [".claude", ".config/claude"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
  nativeExport: () => import("./native-export.ts"),
  mcpServer: () => import("./mcp-server.ts"),
  configured: () => import("./configured.ts"),
  hookRuns: () => import("./hook-runs.ts"),
  native: () => import("./native.ts"),
} satisfies Agent;
