// Both contracts and the schemas like Claude Code's; see README.md beside this file
import { eventIn, FAMILY_EVENTS, FAMILY_FIELDS, FAMILY_NOT_NEEDED, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  `BeforeSubmitPrompt BeforeTool AfterTool BeforeShellExecution AfterFileEdit ${FAMILY_EVENTS}`,
  "agent task result transcript tool_outputs",
  {
    with: FAMILY_FIELDS,
    notNeeded: `BeforeTool AfterTool BeforeShellExecution AfterFileEdit ${FAMILY_NOT_NEEDED}`,
    eventOf: eventIn("hook_event_name"),
  },
);
