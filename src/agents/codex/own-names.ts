import type { OwnNames } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";

/** The agent's built-in tools and subagents. */
export const CODEX_NAMES: OwnNames = {
  tools: words(`
    Bash apply_patch collaboration.close_agent collaboration.followup_task collaboration.interrupt_agent
    collaboration.list_agents collaboration.resume_agent collaboration.send_input collaboration.send_message
    collaboration.spawn_agent collaboration.wait_agent close_agent exec exec_command image_generation_call js_repl
    list_mcp_resource_templates list_mcp_resources local_shell_call read_mcp_resource request_user_input resume_agent
    send_input shell shell_command spawn_agent tool_search_call unified_exec update_plan view_image wait wait_agent
    web_search_call write_stdin`),
  agentTypes: words("default explorer worker"),
};
