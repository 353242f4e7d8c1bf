import type { OwnNames } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";

/** Built-in tools and subagents of 1.0.41. */
export const GROK_NAMES: OwnNames = {
  tools: words(`
    apply_patch ask_user_question enter_plan_mode exit_plan_mode get_command_or_subagent_output grep image_edit image_gen
    kill_command_or_subagent list_dir lsp monitor read_file run_terminal_command scheduler_create scheduler_delete
    scheduler_list search_replace search_tool send_subagent_message skill spawn_subagent todo_write update_goal use_tool
    web_fetch web_search write`),
  agentTypes: words("explore general-purpose plan"),
};
