// Recordings of 0.225.2, read 2026-11-26; https://docs.factory.ai/reference/hooks-reference.md, read 2026-11-21
import { eventIn, FAMILY_EVENTS, FAMILY_FIELDS, FAMILY_NOT_NEEDED, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  FAMILY_EVENTS,
  `CLAUDE_ENV_FILE calling_session_id previous_session_id message_id has_images elapsed_time tool_execution_count
  session_duration_ms message_count task_name task_result`,
  {
    with: FAMILY_FIELDS,
    notNeeded: `SubagentStop SubagentStart PostToolUseFailure StopFailure ${FAMILY_NOT_NEEDED}`,
    eventOf: eventIn("hook_event_name", "hookEventName"),
  },
);
