// https://docs.augmentcode.com/cli/hooks.md and the program 0.36.0, read 2026-11-26
import { eventIn, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  "SessionStart SessionEnd PromptSubmit PreToolUse PostToolUse Stop Notification",
  `hook_event_name hook_type conversation_id workspace_roots tool_name tool_input tool_output tool_error tool_result
  tool_is_error is_mcp_tool file_changes user_prompt agent_stop_cause notification_type notification_message context
  conversation mcp_metadata`,
  { notNeeded: "Notification", eventOf: eventIn("hook_event_name", "hook_type") },
);
