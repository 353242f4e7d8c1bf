// Schema of 2.1.332, read 2026-11-28, and recordings of 2.0.77 to 2.1.329
import { knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  `SessionStart SessionEnd Setup InstructionsLoaded UserPromptSubmit UserPromptExpansion PreToolUse PostToolUse
  PostToolUseFailure PostToolBatch PermissionRequest PermissionDenied Stop StopFailure SubagentStart SubagentStop TaskCreated
  TaskCompleted PreCompact PostCompact Notification CwdChanged MessageDisplay ConfigChange FileChanged DirectoryAdded
  WorktreeCreate WorktreeRemove Elicitation ElicitationResult TeammateIdle PreModelSwitch PostModelSwitch PreSkillShellCommand`,
  `session_id transcript_path cwd hook_event_name prompt_id permission_mode effort agent_id agent_type
  source model seconds_since_last_response context_tokens prompt_cache_likely_expired estimated_cache_write_usd session_title
  trigger file_path memory_type load_reason prompt expansion_type command_name command_args command_source
  tool_name tool_input tool_use_id tool_response tool_output tool_calls mcp_server duration_ms permission_suggestions
  error error_details is_interrupt reason stop_hook_active last_assistant_message background_tasks session_crons
  agent_transcript_path task_id task_subject task_description custom_instructions compact_summary
  message title notification_type old_cwd new_cwd turn_id message_id index final delta name invoked_by scratchpad_dir`,
  {
    notNeeded: `Setup InstructionsLoaded UserPromptExpansion PermissionRequest TaskCreated TaskCompleted PostCompact Notification
  CwdChanged MessageDisplay ConfigChange FileChanged DirectoryAdded WorktreeCreate WorktreeRemove Elicitation ElicitationResult
  TeammateIdle PreModelSwitch PostModelSwitch PreSkillShellCommand`,
  },
);
