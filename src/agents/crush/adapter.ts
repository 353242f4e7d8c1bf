// https://github.com/charmbracelet/crush docs/hooks/README.md, read 2026-11-21; payloads recorded with 0.90.0, 2026-11-25

import { isAbsolute, join } from "node:path";
import type { Recognition } from "#core/model/agent.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { adapterOf } from "../shared/payload/adapter-of.ts";
import {
  CLAUDE_EVENTS,
  CLAUDE_LIKE,
  FAMILY_FIELDS,
  FAMILY_NOT_NEEDED,
  promptIn,
  toolStart,
} from "../shared/payload/claude-like.ts";
import { momentKey } from "../shared/payload/identity.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { type Marks, recogniseByMarks } from "../shared/payload/marks.ts";
import { DATA_FOLDER, DATABASE } from "./places.ts";

export const adapter = adapterOf({
  ...CLAUDE_LIKE,
  source: "crush",
  recognises,
  events: {
    // Older builds have only PreToolUse, so their calls have no end
    ...CLAUDE_EVENTS,
    PreToolUse: {
      type: "tool.start",
      read(p) {
        const start = toolStart(p);
        const isUnnamed = start.tool?.callId === undefined;
        return { ...start, extras: { ...start.extras, in_transcript: isUnnamed ? true : undefined } };
      },
    },
    TurnStart: { type: "prompt.submit", read: promptIn },
    TurnEnd: { type: "turn.end" },
  },
  notNeeded: FAMILY_NOT_NEEDED,
  fields: `event tool_call_id ${FAMILY_FIELDS}`,
  sessionVariable: "CRUSH_SESSION_ID",
  // A payload has neither a call id nor a time. Equal calls run one after the other, so equal payloads at one moment report the
  // same call, for two registrations of the hook
  keyOf: momentKey,
  extrasOf(p, intake) {
    const project = asString(intake.env["CRUSH_PROJECT_DIR"]);
    const path = project === undefined || !isAbsolute(project) ? undefined : join(project, DATA_FOLDER, DATABASE);
    const extras = CLAUDE_LIKE.extrasOf(p, intake);
    return { ...extras, transcript_path: extras.transcript_path ?? path };
  },
});

// --- internal ---

/**
 * Likely by `event` and `cwd`; certain with Crush's variable for hooks. Another agent that inherits the variable sends other
 * shapes.
 */
function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const p = asObject(payload);
  if (asString(p?.["event"]) === undefined) return "no";
  const recognition = recogniseByMarks(MARKS, payload, intake);
  return recognition === "certain" || asString(p?.["cwd"]) !== undefined ? recognition : "no";
}

const MARKS: Marks = {
  sessionVariable: "CRUSH_SESSION_ID",
  // Goose sends the same names
  isOwn: (p, { env }) =>
    env["CRUSH"] === "1" &&
    asString(p["cwd"]) !== undefined &&
    ["hook_event_name", "matcher_context", "working_dir"].every((name) => p[name] === undefined),
};
