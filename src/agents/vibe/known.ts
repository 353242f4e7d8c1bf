// Recordings of 3.0.3 and the hook reference inside its package, read 2026-11-26
import { knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  "pre_tool post_tool post_agent",
  `hook_event_name session_id parent_session_id transcript_path cwd tool_name tool_call_id tool_input tool_status tool_output
   tool_output_text tool_error duration_ms agent_name`,
);
