// https://github.com/block/goose documentation/docs/guides/context-engineering/hooks.md, read 2026-11-21
import { eventIn, FAMILY_EVENTS, FAMILY_FIELDS, FAMILY_NOT_NEEDED, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  `PreToolUseResult BeforeReadFile AfterFileEdit BeforeShellExecution AfterShellExecution ${FAMILY_EVENTS}`,
  "event matcher_context working_dir tool_call_id decision policy_evaluated blocked_by cause",
  {
    with: FAMILY_FIELDS,
    // Tool calls under another name; decisions that did not stop a call
    notNeeded: `PreToolUseResult BeforeReadFile AfterFileEdit BeforeShellExecution AfterShellExecution ${FAMILY_NOT_NEEDED}`,
    eventOf: eventIn("event"),
  },
);
