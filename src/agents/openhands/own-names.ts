import type { OwnNames } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";

/** Built-in tools and subagents of openhands-tools 1.21.0. */
export const OPENHANDS_NAMES: OwnNames = {
  tools: words(`
    apply_patch browser_click browser_close_tab browser_get_content browser_get_state browser_get_storage browser_go_back
    browser_list_tabs browser_navigate browser_scroll browser_set_storage browser_switch_tab browser_type consult_tom
    delegate edit file_editor finish glob grep invoke_skill list_directory planning_file_editor read_file sleeptime_compute
    switch_llm task task_tracker terminal think write_file`),
  agentTypes: words("bash-runner code-explorer default general-purpose web-researcher"),
};
