// Recordings and the program 0.24.4, read 2026-11-26
import { eventIn, FAMILY_EVENTS, FAMILY_FIELDS, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  `${FAMILY_EVENTS} UserPromptExpansion MessageDisplay SessionDelete TodoCreated TodoCompleted`,
  `query response submitted_prompt tool_call_id tool_calls message_id displayed_text is_final file_path memory_type
   load_reason background_tasks crons context_usage context_limit input_tokens compact_summary deleted_session_id
   command_name command_args todo_id todo_content todo_status previous_status all_todos trigger_file_path parent_file_path
   source_type source_id`,
  {
    with: FAMILY_FIELDS,
    // Prompts and batches are needed if nothing else reports their facts, subagents if the user's call started them
    notNeeded: `UserPromptSubmit PostToolBatch SubagentStart SubagentStop UserPromptExpansion MessageDisplay SessionDelete
      TodoCreated TodoCompleted InstructionsLoaded PostCompact Setup QueryEnd`,
    eventOf: eventIn("hook_event_name"),
  },
);
