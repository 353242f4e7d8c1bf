// https://developers.openai.com/codex/hooks and recordings of 0.110.0 to 0.169.0, read 2026-11-21
import { eventIn, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  `SessionStart SessionEnd UserPromptSubmit PreToolUse PostToolUse PreModelRequest PostModelRequest PreCompact PostCompact
  SubagentStart SubagentStop Stop Interrupt Notification PermissionRequest agent-turn-complete`,
  `hook_event_name session_id turn_id transcript_path cwd model permission_mode source reason prompt agent_id agent_type
  agent_transcript_path tool_name tool_input tool_use_id tool_response tool_output trigger custom_instructions status error
  token_usage kind request_id attempt_number response_id last_assistant_message stop_hook_active message
  type thread-id input-messages client`,
  { eventOf: eventIn("hook_event_name", "type"), notNeeded: "PostCompact Notification PermissionRequest" },
);
