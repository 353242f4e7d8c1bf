// https://docs.x.ai/build/features/hooks and public tests, read 2026-11-21
import { eventIn, FAMILY_EVENTS, FAMILY_FIELDS, FAMILY_NOT_NEEDED, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  `beforeSubmitPrompt beforeShellExecution afterFileEdit ${FAMILY_EVENTS}`,
  "tool_call_id workspace_roots",
  {
    with: FAMILY_FIELDS,
    notNeeded: `beforeShellExecution afterFileEdit ${FAMILY_NOT_NEEDED}`,
    eventOf: eventIn("hookEventName"),
  },
);
