// https://moonshotai.github.io/kimi-code/en/customization/hooks, read 2026-11-21
import { eventIn, FAMILY_EVENTS, FAMILY_FIELDS, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(FAMILY_EVENTS, "client_type tool_call_id response token_count", {
  with: FAMILY_FIELDS,
  eventOf: eventIn("hook_event_name"),
});
