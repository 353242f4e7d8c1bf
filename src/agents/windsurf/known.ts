// https://docs.windsurf.com/windsurf/cascade/hooks, read 2026-11-21
import { eventIn, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  `pre_user_prompt pre_read_code post_read_code pre_write_code post_write_code pre_run_command post_run_command
  pre_mcp_tool_use post_mcp_tool_use post_cascade_response post_cascade_response_with_transcript post_setup_worktree`,
  "agent_action_name trajectory_id execution_id timestamp model_name tool_info",
  { eventOf: eventIn("agent_action_name"), notNeeded: "post_setup_worktree" },
);
