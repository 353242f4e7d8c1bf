import type { KnownNames } from "#core/model/agent.ts";
import { words } from "../names/own-names.ts";

/**
 * The names of a card, from texts with words. `more.with`: fields shared with other agents; `more.notNeeded`: which of the events
 * are not needed, or not always.
 */
export const knownNames = (
  events: string,
  fields: string,
  more: Partial<Pick<KnownNames, "eventOf">> & { readonly with?: string; readonly notNeeded?: string } = {},
): KnownNames => ({
  events: words(events),
  fields: words(`${fields} ${more.with ?? ""}`),
  notNeeded: words(more.notNeeded ?? ""),
  ...(more.eventOf !== undefined && { eventOf: more.eventOf }),
});

/** Finds the event's name: the first of these members with a text, otherwise the name on the hook's command line. */
export const eventIn =
  (...names: readonly string[]): NonNullable<KnownNames["eventOf"]> =>
  (payload, intake) => {
    for (const name of names) {
      const value: unknown = Object.hasOwn(payload, name) ? Reflect.get(payload, name) : undefined;
      if (typeof value === "string" && value !== "") return value;
    }
    return intake.event;
  };

/** Documented events of agents with Claude Code's hooks. */
export const FAMILY_EVENTS = `SessionStart SessionEnd UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PostToolBatch
  Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact Notification PermissionRequest PermissionDenied Setup
  InstructionsLoaded QueryEnd`;

/** Those of them that `CLAUDE_EVENTS` does not convert. */
export const FAMILY_NOT_NEEDED =
  "PostToolBatch PostCompact Notification PermissionRequest PermissionDenied Setup InstructionsLoaded QueryEnd";

/** Fields that those agents have in common. */
export const FAMILY_FIELDS = `session_id transcript_path cwd hook_event_name permission_mode prompt prompt_id source model reason trigger custom_instructions tool_name tool_input tool_use_id tool_response tool_output
  duration_ms error error_type error_message error_details is_interrupt stop_hook_active last_assistant_message agent_id
  agent_type agent_name agent_transcript_path message title notification_type permission_suggestions timestamp`;
