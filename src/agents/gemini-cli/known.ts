// https://geminicli.com/docs/hooks/reference/ and recordings of 0.61.0, read 2026-11-21
import { knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  `SessionStart SessionEnd BeforeAgent AfterAgent BeforeModel AfterModel BeforeToolSelection BeforeTool AfterTool PreCompress
  Notification Stop`,
  `session_id transcript_path cwd hook_event_name timestamp source reason prompt prompt_response stop_hook_active llm_request
  llm_response tool_name tool_input tool_response mcp_context original_request_name trigger notification_type message details`,
  // Prompts that the program wrote; chunks of an answer
  { notNeeded: "BeforeAgent AfterModel BeforeToolSelection PreCompress" },
);
