import type { OwnNames } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";

/** The agent's built-in tools and subagents. */
export const CLINE_NAMES: OwnNames = {
  tools: words(`
    access_mcp_resource apply_patch ask_followup_question ask_question attempt_completion browser_action editor
    execute_command fetch_web_content list_code_definition_names list_files new_task plan_mode_respond read_file read_files
    replace_in_file run_commands search_codebase search_files skills spawn_agent submit_and_exit use_mcp_tool
    use_subagents web_fetch write_to_file`),
  agentTypes: [],
};
