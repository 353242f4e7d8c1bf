// Recordings of 1.0.41 and its guide, read 2026-11-26; older names: https://docs.x.ai/build/features/hooks, read 2026-11-21
import { eventIn, FAMILY_EVENTS, FAMILY_FIELDS, FAMILY_NOT_NEEDED, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  `beforeSubmitPrompt beforeShellExecution afterFileEdit StopCancelled SubagentEnd ${FAMILY_EVENTS}`,
  `hookEventName sessionId workspaceRoot workspace_roots promptId tool_call_id toolCallId toolInputTruncated toolResult
  toolResultTruncated toolResponse isBackgrounded subagentType subagentId description phase level backgroundTasks sessionCrons
  cancelledBy cancelTrigger reasonDetails`,
  {
    with: FAMILY_FIELDS,
    // A subagent's prompt and compactions, and the Stop after the session's end
    notNeeded: `beforeShellExecution afterFileEdit Stop UserPromptSubmit SessionStart PreCompact ${FAMILY_NOT_NEEDED}`,
    eventOf: eventIn("hook_event_name", "hookEventName"),
  },
);
