// https://moonshotai.github.io/kimi-code/en/customization/hooks, read 2026-11-21
import { eventIn, FAMILY_EVENTS, FAMILY_FIELDS, FAMILY_NOT_NEEDED, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  `${FAMILY_EVENTS} TurnStarted TaskStarted`,
  "client_type tool_call_id response token_count",
  {
    with: FAMILY_FIELDS,
    notNeeded: `${FAMILY_NOT_NEEDED} TurnStarted TaskStarted`,
    eventOf: eventIn("hook_event_name"),
  },
);
