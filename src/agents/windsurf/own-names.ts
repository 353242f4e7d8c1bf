import type { OwnNames } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";

/** The agent's built-in tools and subagents. */
export const WINDSURF_NAMES: OwnNames = {
  tools: words("mcp_tool_use read_code run_command write_code"),
  agentTypes: [],
};
