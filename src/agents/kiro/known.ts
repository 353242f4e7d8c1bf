// https://kiro.dev/docs/cli/hooks/, /docs/cli/v3/hooks/ and public captures, read 2026-11-21
import { knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  `agent agentSpawn sessionStart sessionEnd userPromptSubmit promptSubmit preToolUse postToolUse stop agentStop
  preTaskExecution postTaskExecution fileCreated fileEdited fileDeleted userTriggered`,
  `hook_event_name cwd session_id prompt tool_name tool_input tool_response tool_use_id toolName toolArgs toolResult
  toolSuccess assistant_response permission_mode transcript_path reason source`,
  {
    // From `agentSpawn` on: in v3, two of our hooks report each of these events, and one report is ignored
    notNeeded: `preTaskExecution postTaskExecution fileCreated fileEdited fileDeleted userTriggered agentSpawn sessionStart
  sessionEnd userPromptSubmit promptSubmit preToolUse postToolUse stop agentStop`,
  },
);
