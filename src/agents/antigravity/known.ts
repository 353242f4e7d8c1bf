// https://antigravity.google/docs/hooks as quoted by public projects, read 2026-11-21
import { eventIn, knownNames } from "../shared/payload/known.ts";

export const KNOWN = knownNames(
  "PreInvocation PostInvocation PreToolUse PostToolUse Stop",
  `conversationId stepIdx toolCall toolResult result error workspacePaths invocationNum transcriptPath artifactDirectoryPath
  fullyIdle hookEventName timestamp model`,
  { eventOf: eventIn("hookEventName") },
);
