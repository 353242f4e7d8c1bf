// https://github.com/charmbracelet/crush docs/hooks/README.md, read 2026-11-21
import { eventIn, FAMILY_EVENTS, FAMILY_FIELDS, FAMILY_NOT_NEEDED, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(`TurnStart TurnEnd ${FAMILY_EVENTS}`, "event tool_call_id", {
  with: FAMILY_FIELDS,
  notNeeded: FAMILY_NOT_NEEDED,
  eventOf: eventIn("event"),
});
