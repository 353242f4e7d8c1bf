// Public schema and recordings of the CLI 3.0.65, read 2026-11-21
import { eventIn, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  `agent_start agent_resume agent_end agent_error agent_abort prompt_submit tool_call tool_result session_shutdown pre_compact
  TaskStart TaskResume TaskComplete TaskError TaskCancel UserPromptSubmit PreToolUse PostToolUse PreCompact SessionShutdown
  Notification`,
  `clineVersion hookName timestamp taskId sessionContext userId workspaceRoots workspaceInfo agent_id parent_agent_id iteration
  turn model error tool_call tool_result taskStart taskResume taskComplete taskCancel taskError userPromptSubmit preToolUse
  postToolUse preCompact notification reason`,
  // Prompts of subagents are their tasks
  { eventOf: eventIn("hookName"), notNeeded: "Notification prompt_submit UserPromptSubmit" },
);
