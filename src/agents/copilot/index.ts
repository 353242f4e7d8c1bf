import type { Agent } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";
import { adapter } from "./adapter.ts";
import { toContent } from "./content.ts";
import { toFileWrites } from "./file-writes.ts";

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
  // Copilot CLI's names, and the Claude Code names that its hooks under PascalCase names receive
  own: {
    tools: words(`
      Agent AskUserQuestion Bash Edit Glob Grep Read TodoWrite WebFetch WebSearch Write apply_patch ask_user bash create edit
      exit_plan_mode fetch_copilot_cli_documentation glob grep list_agents list_bash list_powershell powershell read_agent
      read_bash read_powershell report_intent rg skill sql stop_bash stop_powershell store_memory str_replace_editor task
      task_complete update_todo view web_fetch web_search write_bash write_powershell`),
    agentTypes: words("code-review explore general-purpose task"),
  },
  environment: ["COPILOT_HOME", "COPILOT_CLI", "COPILOT_CLI_BINARY_VERSION"],
  // Seen with 1.0.102
  inCommands: { session: ["COPILOT_AGENT_SESSION_ID"] },
  toContent,
  toFileWrites,
  sessionFolders: ["session-state"],
  sessionsBelow: [".copilot"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
  nativeExport: () => import("./native-export.ts"),
  mcpServer: () => import("./mcp-server.ts"),
  configured: () => import("./configured.ts"),
  hookRuns: () => import("./hook-runs.ts"),
  native: () => import("./native.ts"),
} satisfies Agent;
