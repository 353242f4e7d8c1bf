// https://github.com/QwenLM/qwen-code docs/users/features/hooks.md, read 2026-11-21
import { eventIn, FAMILY_EVENTS, FAMILY_FIELDS, FAMILY_NOT_NEEDED, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(`${FAMILY_EVENTS} MessageDisplay`, "query response", {
  with: FAMILY_FIELDS,
  notNeeded: `${FAMILY_NOT_NEEDED} MessageDisplay`,
  eventOf: eventIn("hook_event_name"),
});
