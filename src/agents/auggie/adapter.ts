// https://docs.augmentcode.com/cli/hooks.md and the program 0.36.0, read 2026-11-26; not run

import type { IntakeFacts } from "#core/model/intake-facts.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { executableOf } from "../shared/names/executables.ts";
import { adapterOf, type EventTable, type Members, type Payload } from "../shared/payload/adapter-of.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { momentKey } from "../shared/payload/identity.ts";
import { asArray, asCode, asObject, asString, asTimeMs, first } from "../shared/payload/json.ts";

/** `hook_type` in the second generation of the program, whose payloads have no conversation. */
const NAME_IN = ["hook_event_name", "hook_type"];

const EVENTS = {
  SessionStart: { type: "session.start" },
  PromptSubmit: { type: "prompt.submit", read: (p) => ({ promptLength: asString(p["user_prompt"])?.length }) },
  PreToolUse: { type: "tool.start", read: callIn },
  PostToolUse: {
    type: "tool.end",
    read(p) {
      const { tool, extras } = callIn(p);
      const exitCode = exitCodeIn(p["tool_output"] ?? p["tool_result"]);
      const isFailed = asString(p["tool_error"]) !== undefined || p["tool_is_error"] === true;
      return {
        tool: { ...tool, status: isFailed || (exitCode !== undefined && exitCode !== 0) ? "error" : "success" },
        extras: { ...extras, exit_code: exitCode, status_origin: "native" },
      };
    },
  },
  Stop: {
    type: "turn.end",
    or: ["turn.error"],
    read: (p) =>
      asCode(p["agent_stop_cause"]) === "error" ? { type: "turn.error", extras: { error_type: "_OTHER" } } : {},
  },
  SessionEnd: { type: "session.end", read: () => ({ reason: "completed" }) },
} as const satisfies EventTable;

export const adapter = adapterOf({
  source: "auggie",
  // Certain by its conversation: the variable with its id, or the two members that Cursor has too, which always names its version
  recognises: {
    isOwn: (p, { env }) => {
      const id = asString(p["conversation_id"]);
      if (id === undefined || p["cursor_version"] !== undefined || p["generation_id"] !== undefined) return false;
      if (id === env["AUGMENT_CONVERSATION_ID"]) return true;
      return Array.isArray(p["workspace_roots"]) && Object.hasOwn(EVENTS, first(p, NAME_IN) ?? "");
    },
  },
  events: EVENTS,
  notNeeded: "Notification",
  fields: `hook_event_name hook_type conversation_id workspace_roots tool_name tool_input tool_output tool_error tool_result
    tool_is_error is_mcp_tool file_changes user_prompt agent_stop_cause notification_type notification_message context
    conversation mcp_metadata`,
  nameIn: NAME_IN,
  sessionIn: ["conversation_id"],
  sessionVariable: "AUGMENT_CONVERSATION_ID",
  cwdOf: (p) => asString(asArray(p["workspace_roots"])[0]),
  timeOf: (p) => asTimeMs(asObject(p["context"])?.["timestamp"]),
  // No payload has a call's id or, by default, a time: equal payloads differ only in their arrival. Two equal payloads are two events,
  // unless they arrive at the same time, from two registrations
  keyOf: momentKey,
  extrasOf: (p) => ({ agent_version: asString(asObject(p["context"])?.["toolVersion"]) }),
});

/** A turn that the user interrupted, if Auggie sends its end: documentation and program disagree on whether it does. */
export function toEntries(payload: unknown, intake: IntakeFacts): readonly TranscriptEntry[] {
  const p = asObject(payload);
  if (p === undefined || p["agent_stop_cause"] !== "interrupted") return [];
  if ((first(p, NAME_IN) ?? intake.event) !== "Stop") return [];
  return [{ kind: "interruption", key: `interruption:${intake.timeMs}`, timeMs: intake.timeMs }];
}

/** The exit code in a command's output, as the program itself finds it. */
export function exitCodeIn(output: unknown): number | undefined {
  const code = /<return-code>\s*(\d{1,10})\s*<\/return-code>/.exec(asString(output)?.slice(0, MAX_HEAD) ?? "")?.[1];
  return code === undefined ? undefined : Number(code);
}

// --- internal ---

/** The exit code precedes the output. */
const MAX_HEAD = 2_000;

function callIn(p: Payload) {
  return {
    tool: { name: asString(p["tool_name"]) },
    extras: {
      input_digest: inputDigest(p["tool_input"]),
      executable: executableOf(asObject(p["tool_input"])?.["command"]),
    },
  } satisfies Members;
}
