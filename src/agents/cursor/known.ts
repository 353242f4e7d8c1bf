// https://cursor.com/docs/hooks and public captures, read 2026-11-21
import { knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  `sessionStart sessionEnd beforeSubmitPrompt preToolUse postToolUse postToolUseFailure beforeShellExecution
  afterShellExecution beforeMCPExecution afterMCPExecution beforeReadFile afterFileEdit afterAgentResponse afterAgentThought
  subagentStart subagentStop stop preCompact beforeTabFileRead afterTabFileEdit workspaceOpen`,
  `hook_event_name conversation_id session_id generation_id model model_id model_params cursor_version workspace_roots
  user_email transcript_path cwd is_background_agent composer_mode reason duration duration_ms final_status error_message
  prompt attachments tool_name tool_input tool_use_id tool_output agent_message failure_type is_interrupt command sandbox
  output url result_json file_path content edits text input_tokens output_tokens cache_read_tokens cache_write_tokens
  subagent_id subagent_type subagent_model task parent_conversation_id tool_call_id is_parallel_worker git_branch status
  description summary message_count tool_call_count loop_count modified_files agent_transcript_path trigger
  context_usage_percent context_tokens context_window_size messages_to_compact is_first_compaction`,
  {
    // Tool calls under another name; answers without tokens
    notNeeded: `beforeShellExecution afterShellExecution beforeMCPExecution afterMCPExecution beforeReadFile afterFileEdit
  afterAgentResponse afterAgentThought beforeTabFileRead afterTabFileEdit workspaceOpen`,
  },
);
