import type { Agent } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";
import { hookContent } from "../shared/payload/content.ts";
import { adapter } from "./adapter.ts";
import { toFileWrites } from "./file-writes.ts";
import { rateLimitsOf, subscriptionOf } from "./rate-limits.ts";
import { toEntries } from "./requests.ts";

export default {
  ...adapter,
  title: "Codex",
  otherNames: ["openai"],
  docs: "https://developers.openai.com/codex/hooks",
  provider: "openai",
  emits: ["file.write", ...adapter.emits],
  tokens: "transcript",
  // The terminal interface works through a server in the background, which reports no end when the user leaves
  endsSilently: true,
  hooksNameAgents: true,
  capabilities: {
    basis: "recorded",
    versions: "0.80.0 to 0.171.0",
    subagents: true,
    sessionIds: "native",
    callIds: "native",
    eventIds: "arrival",
  },
  own: {
    tools: words(`
      Bash apply_patch collaboration.close_agent collaboration.followup_task collaboration.interrupt_agent
      collaboration.list_agents collaboration.resume_agent collaboration.send_input collaboration.send_message
      collaboration.spawn_agent collaboration.wait_agent close_agent exec exec_command image_generation_call js_repl
      list_mcp_resource_templates list_mcp_resources local_shell_call read_mcp_resource request_user_input resume_agent
      send_input shell shell_command spawn_agent tool_search_call unified_exec update_plan view_image wait wait_agent
      web_search_call write_stdin`),
    agentTypes: words("default explorer worker"),
  },
  environment: ["CODEX_HOME", "CODEX_THREAD_ID"],
  // Seen with 0.171.0: a subagent has a thread of its own
  inCommands: { session: ["CODEX_SESSION_ID", "CODEX_THREAD_ID"], call: "CODEX_TOOL_CALL_ID" },
  toContent: hookContent,
  toFileWrites,
  toEntries,
  rateLimitsOf,
  subscriptionOf,
  sessionFolders: ["sessions", "archived_sessions"],
  sessionsBelow: [".codex"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
  nativeExport: () => import("./native-export.ts"),
  mcpServer: () => import("./mcp-server.ts"),
  configured: () => import("./configured.ts"),
  native: () => import("./native.ts"),
} satisfies Agent;
