// https://developers.openai.com/codex/config-advanced, and the program: 0.171.0
import { DURATION, type NativeTable } from "#core/model/native-table.ts";

const CALL = { callId: "call_id" };

/**
 * Its model calls have no id in any record, and its records of retries and hooks none of a turn. The time that it gives for a tool
 * includes the wait for permission, except for calls of MCP servers. Its logs come only if they are forwarded, see native-export.ts.
 */
export default {
  // A subagent's records have the id of its own thread
  session: ["conversation.id", "thread.id"],
  spans: {
    "session_task.turn": {
      ids: { promptId: "turn.id" },
      facts: {
        tokens: {
          input: { of: ["codex.turn.token_usage.non_cached_input_tokens"] },
          output: { of: ["codex.turn.token_usage.output_tokens"] },
          cacheRead: { of: ["codex.turn.token_usage.cached_input_tokens"] },
          cacheWrite: { of: ["codex.turn.token_usage.cache_write_input_tokens"] },
        },
      },
    },
    // A span of each call, which has the name of the tool
    "*": { ids: CALL, only: { of: "codex.tool.phase", is: ["dispatch"] } },
    "mcp.tools.call": { ids: { callId: "tool.call_id" }, facts: { executionMs: { of: [DURATION] } } },
  },
  logs: {
    "codex.tool_decision": {
      ids: CALL,
      facts: {
        decision: {
          word: "decision",
          as: {
            approved: "allow",
            approved_for_session: "allow",
            approved_with_amendment: "allow",
            approved_mcp_policy_amendment: "allow",
            approved_with_network_policy_allow: "allow",
            denied: "deny",
            denied_with_network_policy_deny: "deny",
            // Nobody answered
            timed_out: "deny",
            abort: "deny",
          },
        },
        decidedBy: { word: "source" },
        byUser: { word: "source", as: { Config: false, AutomatedReviewer: false, User: true } },
      },
    },
    "codex.tool_result": { ids: CALL, isInSpan: true },
  },
} satisfies NativeTable;
