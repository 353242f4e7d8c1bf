// https://docs.github.com/en/copilot/reference/hooks-configuration and recordings of 1.0.102, read 2026-11-21
import { eventIn, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  `sessionStart sessionEnd userPromptSubmitted userPromptSubmit userPromptTransformed preToolUse postToolUse
  postToolUseFailure preMcpToolCall errorOccurred agentStop stop subagentStart subagentStop preCompact notification
  permissionRequest`,
  `sessionId timestamp cwd source initialPrompt prompt reason toolName toolArgs toolInput toolResult error errorContext
  recoverable agentId agentName agentType agentDisplayName agentDescription parentAgentId transcriptPath stopReason
  stopHookActive trigger customInstructions message title notificationType permissionSuggestions hookName hookEventName
  traceparent tracestate response`,
  {
    eventOf: eventIn("hook_event_name", "hookName"),
    // Prompts of subagents are their tasks; the session's agent is no subagent
    notNeeded: `userPromptTransformed preMcpToolCall notification permissionRequest userPromptSubmitted userPromptSubmit
  subagentStart subagentStop`,
  },
);
