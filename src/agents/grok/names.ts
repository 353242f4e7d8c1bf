import type { OwnNames } from "#core/model/agent.ts";

/** Built-in tools and subagents of 1.0.41. */
export const GROK_NAMES: OwnNames = {
  tools:
    `apply_patch ask_user_question enter_plan_mode exit_plan_mode get_command_or_subagent_output grep image_edit image_gen
    kill_command_or_subagent list_dir lsp monitor read_file run_terminal_command scheduler_create scheduler_delete
    scheduler_list search_replace search_tool send_subagent_message skill spawn_subagent todo_write update_goal use_tool
    web_fetch web_search write`.split(/\s+/),
  agentTypes: ["explore", "general-purpose", "plan"],
};

/** The server of an MCP tool, which Grok names `server__tool`. */
export const mcpServerOf = (tool: string | undefined): string | undefined =>
  /^([A-Za-z0-9][\w.-]*?)__[A-Za-z0-9]/.exec(tool ?? "")?.[1];

/** Starts of Grok's own prompts: they report that background work ended, or give a reminder. */
export const isMachinePrompt = (prompt: unknown, promptId: string | undefined): boolean =>
  (typeof prompt === "string" && /^\s*<system-reminder>/.test(prompt)) ||
  /^(?:subagent|task|monitor)-completed-/.test(promptId ?? "");
