// https://github.com/block/goose documentation/docs/guides/context-engineering/hooks.md, read 2026-11-21
import { eventIn, FAMILY_EVENTS, FAMILY_FIELDS, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  `PreToolUseResult BeforeReadFile AfterFileEdit BeforeShellExecution AfterShellExecution ${FAMILY_EVENTS}`,
  "event matcher_context working_dir tool_call_id decision policy_evaluated blocked_by cause",
  {
    with: FAMILY_FIELDS,
    eventOf: eventIn("event"),
  },
);
