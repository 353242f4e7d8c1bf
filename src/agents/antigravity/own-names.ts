import type { OwnNames } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";

/** The agent's built-in tools and subagents. */
export const ANTIGRAVITY_NAMES: OwnNames = {
  tools: words(`
    browser_subagent command_status find_by_name grep_search list_dir multi_replace_file_content read_url_content
    replace_file_content run_command search_web send_command_input task_boundary view_code_item view_file view_file_outline
    write_to_file`),
  agentTypes: [],
};
