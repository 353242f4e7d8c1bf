// https://github.com/QwenLM/qwen-code docs/users/features/hooks.md, read 2026-11-21
import { eventIn, FAMILY_EVENTS, FAMILY_FIELDS, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(FAMILY_EVENTS, "query response", {
  with: FAMILY_FIELDS,
  eventOf: eventIn("hook_event_name"),
});
