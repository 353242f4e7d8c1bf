// docs/extensions.md of 0.73.1 and 1.6.0, and recordings, read 2026-11-28
import { asObject, asString } from "../shared/payload/json.ts";
import { knownNames } from "../shared/payload/known.ts";

/** Each of them is an event of a session. */
const ALWAYS_NEEDED = "helper_start";

/**
 * Events that may give nothing: those that a trace does not need, those of helpers that our extension did not mark, and those of a request
 * that pi repeats.
 */
const OTHERS = `resources_discover session_start session_before_switch session_before_fork session_before_compact
  session_compact session_before_tree session_tree session_shutdown session_info before_agent_start agent_start agent_end
  turn_start turn_end message_start message_update message_end tool_execution_start tool_execution_update
  tool_execution_end context before_provider_request after_provider_response model_select thinking_level_select tool_call
  tool_result user_bash input agent_before_settle agent_settled before_provider_headers cache_warming_decision
  project_trust session_compact_failed session_info_changed context_with_system mcp_servers_change
  provider_stream_event ui_prompt_start ui_prompt_end`;

export const KNOWN = knownNames(`${ALWAYS_NEEDED} ${OTHERS}`, "event context extension", {
  eventOf: (payload, intake) => asString(asObject(asObject(payload)?.["event"])?.["type"]) ?? intake.event,
  notNeeded: OTHERS,
});
