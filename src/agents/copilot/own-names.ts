import type { OwnNames } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";

/** Copilot CLI's names, and the Claude Code names that its hooks under PascalCase names receive. */
export const COPILOT_NAMES: OwnNames = {
  tools: words(`
    Agent AskUserQuestion Bash Edit Glob Grep Read TodoWrite WebFetch WebSearch Write apply_patch ask_user bash create edit
    exit_plan_mode fetch_copilot_cli_documentation glob grep list_agents list_bash list_powershell powershell read_agent
    read_bash read_powershell report_intent rg skill sql stop_bash stop_powershell store_memory str_replace_editor task
    task_complete update_todo view web_fetch web_search write_bash write_powershell`),
  agentTypes: words("code-review explore general-purpose task"),
};
