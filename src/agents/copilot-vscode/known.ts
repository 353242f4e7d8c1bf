// https://code.visualstudio.com/docs/agents/reference/hooks-reference, read 2026-11-21
import { eventIn, FAMILY_EVENTS, FAMILY_FIELDS, FAMILY_NOT_NEEDED, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(FAMILY_EVENTS, "timestamp agent_display_name", {
  with: FAMILY_FIELDS,
  notNeeded: `SessionEnd PostToolUseFailure StopFailure ${FAMILY_NOT_NEEDED}`,
  eventOf: eventIn("hook_event_name", "hookEventName"),
});
