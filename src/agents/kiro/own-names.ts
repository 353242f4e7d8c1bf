import type { OwnNames } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";

/** The agent's built-in tools and subagents. */
export const KIRO_NAMES: OwnNames = {
  tools: words(`
    aws code execute_bash execute_cmd execute_command execute_pwsh fs_read fs_write glob grep introspect
    invoke_sub_agent knowledge read report_issue shell subagent thinking todo_list use_aws use_subagent web_fetch web_search
    write`),
  agentTypes: words("kiro_default"),
};
