// https://github.com/block/goose documentation/docs/guides/context-engineering/hooks.md, read 2026-11-21; payloads
// recorded with 1.52.0, 2026-11-25

import { adapterOf } from "../shared/payload/adapter-of.ts";
import {
  CLAUDE_EVENTS,
  CLAUDE_LIKE,
  FAMILY_FIELDS,
  FAMILY_NOT_NEEDED,
  outcomeIn,
  promptIn,
  toolEnd,
  turnError,
} from "../shared/payload/claude-like.ts";
import { momentKey } from "../shared/payload/identity.ts";
import { asCode, asObject, asString } from "../shared/payload/json.ts";
import { recogniseByMarks } from "../shared/payload/marks.ts";

export const adapter = adapterOf({
  ...CLAUDE_LIKE,
  source: "goose",
  // `event` instead of Claude Code's `hook_event_name`, with members that only Goose has
  recognises: (payload, intake) =>
    asString(asObject(payload)?.["event"]) === undefined
      ? "no"
      : recogniseByMarks({ members: ["matcher_context", "working_dir"] }, payload, intake),
  events: {
    SessionStart: CLAUDE_EVENTS.SessionStart,
    UserPromptSubmit: {
      type: "prompt.submit",
      or: ["compaction", "notice"],
      read(p) {
        const message = asString(p["message"]) ?? "";
        if (COMPACT.test(message)) return { type: "compaction", extras: { trigger: asCode(p["trigger"]) } };
        // Commands for Goose itself; the model is not asked to answer them, and no Stop follows
        return OWN_COMMAND.test(message) ? { type: "notice" } : promptIn(p);
      },
    },
    PreToolUse: CLAUDE_EVENTS.PreToolUse,
    PostToolUse: CLAUDE_EVENTS.PostToolUse,
    PostToolUseFailure: CLAUDE_EVENTS.PostToolUseFailure,
    // The only end of a refused call; an allowed call has another end
    PreToolUseResult: {
      type: "tool.end",
      or: ["nothing"],
      read(p) {
        if (p["decision"] !== "deny") return undefined;
        const end = toolEnd(p, { ...outcomeIn(p), status: "error", origin: "native" });
        return { ...end, extras: { ...end.extras, denied: true } };
      },
    },
    Stop: {
      type: "turn.end",
      or: ["turn.error"],
      // A turn that ended with an error of the provider has no answer
      read: (p) => (asString(p["last_assistant_message"]) === undefined ? { type: "turn.error", ...turnError(p) } : {}),
    },
    SessionEnd: CLAUDE_EVENTS.SessionEnd,
  },
  // BeforeReadFile, AfterFileEdit and the shell events duplicate tool calls that the tool events report
  notNeeded: `BeforeReadFile AfterFileEdit BeforeShellExecution AfterShellExecution ${FAMILY_NOT_NEEDED}`,
  fields: `event matcher_context working_dir tool_call_id decision policy_evaluated blocked_by cause 
    ${FAMILY_FIELDS}`,
  // A payload has no time. Equal ones at one moment come from two registrations of the hook
  keyOf: momentKey,
});

// --- internal ---

// crates/goose/src/agents/execute_commands.rs, read 2026-11-27; `/goal` with a text starts a turn
const COMPACT = /^\s*(?:\/(?:compact|summarize)\b|Please compact this conversation\s*$)/;
const OWN_COMMAND = /^\s*\/(?:(?:prompts|skills|doctor)(?: |\s*$)|(?:goal|grind)(?: +(?:off|clear|none))?\s*$)/;
