// openhands/sdk/hooks/types.py of openhands-sdk 1.21.0, and recordings of 1.16.0, read 2026-11-26
import { eventIn, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  "SessionStart SessionEnd UserPromptSubmit PreToolUse PostToolUse Stop",
  "event_type tool_name tool_input tool_response message session_id working_dir metadata",
  { eventOf: eventIn("event_type") },
);
