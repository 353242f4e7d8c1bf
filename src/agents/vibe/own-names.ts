import type { OwnNames } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";

/** The agent's built-in tools and subagents. */
export const VIBE_NAMES: OwnNames = {
  tools: words(`
    agents.interrupt agents.list agents.list_configs agents.send_message agents.spawn bash edit process.list process.output
    process.start process.stop process.write read_file run_typescript search_replace search_tool_functions skill sleep todo
    unified_harness_scratchpad wait write_file`),
  agentTypes: words("explore"),
};
