// https://docs.factory.ai/reference/hooks-reference.md, read 2026-11-21
import { eventIn, FAMILY_EVENTS, FAMILY_FIELDS, FAMILY_NOT_NEEDED, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(FAMILY_EVENTS, "", {
  with: FAMILY_FIELDS,
  notNeeded: FAMILY_NOT_NEEDED,
  eventOf: eventIn("hook_event_name", "hookEventName"),
});
