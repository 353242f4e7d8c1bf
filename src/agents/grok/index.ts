import type { Agent } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";
import { adapter, toContent } from "./adapter.ts";
import { toFileWrites } from "./file-writes.ts";

export default {
  ...adapter,
  title: "Grok Build",
  otherNames: ["xai", "x-ai"],
  docs: "https://docs.x.ai/build/features/hooks",
  emits: ["file.write", ...adapter.emits],
  tokens: "transcript",
  // A subagent is a separate session with its own start and end
  hooksNameAgents: true,
  capabilities: {
    basis: "recorded",
    versions: "1.0.41",
    subagents: true,
    sessionIds: "native",
    callIds: "native",
    eventIds: "payload",
  },
  // Built-in tools and subagents of 1.0.41
  own: {
    tools: words(`
      apply_patch ask_user_question enter_plan_mode exit_plan_mode get_command_or_subagent_output grep image_edit image_gen
      kill_command_or_subagent list_dir lsp monitor read_file run_terminal_command scheduler_create scheduler_delete
      scheduler_list search_replace search_tool send_subagent_message skill spawn_subagent todo_write update_goal use_tool
      web_fetch web_search write`),
    agentTypes: words("explore general-purpose plan"),
  },
  environment: ["GROK_HOME"],
  // Seen with 1.0.41
  inCommands: { session: ["GROK_SESSION_ID"], inOwnHooks: true },
  toContent,
  toFileWrites,
  sessionFolders: ["sessions"],
  sessionsBelow: [".grok"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
  hookRuns: () => import("./hook-runs.ts"),
} satisfies Agent;
