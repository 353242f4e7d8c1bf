// Recordings and the program 2.1.0, read 2026-11-26
import { eventIn, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  `SessionStart SessionEnd SessionHeartbeat UserPromptSubmit UserPromptQueued TurnStarted PreToolUse PostToolUse
   PostToolUseFailure PermissionRequest PermissionResult Stop StopFailure Interrupt SubagentStart SubagentStop TaskStarted
   PreCompact PostCompact Notification`,
  `hook_event_name session_id cwd client_type session_title source model profile prompt is_steer prompt_id queue_length
   turn_id origin_kind origin_name tool_name tool_input tool_call_id tool_output error error_type error_message agent_name
   response task_id kind detached started_at description status trigger token_count estimated_token_count
   notification_type source_id source_kind sink agent_id title body severity stop_hook_active reason action display
   session_cache_key decision scope feedback selected_label error_code id tool_use_id`,
  {
    // Prompts are not needed if they steer a running turn
    notNeeded: "SessionHeartbeat UserPromptSubmit UserPromptQueued TurnStarted TaskStarted PostCompact",
    eventOf: eventIn("hook_event_name"),
  },
);
