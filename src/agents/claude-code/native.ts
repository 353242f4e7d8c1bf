// https://code.claude.com/docs/en/monitoring-usage, and the program: 2.1.332
import { type NativeTable, PARENT_SPAN } from "#core/model/native-table.ts";

// `gen_ai.response.id` of its spans is the id of the request
const REQUEST = { requestId: "request_id" };
/** Both signals have them, with equal values. */
const ANSWER = {
  firstTokenMs: { of: ["ttft_ms"] },
  tokens: {
    input: { of: ["input_tokens"] },
    output: { of: ["output_tokens"] },
    cacheRead: { of: ["cache_read_tokens"] },
    cacheWrite: { of: ["cache_creation_tokens"] },
  },
} as const;
const DECISION = {
  decision: { word: "decision", as: { accept: "allow", reject: "deny" } },
  decidedBy: { word: "source" },
  byUser: {
    word: "source",
    as: {
      config: false,
      hook: false,
      user_permanent: true,
      user_temporary: true,
      user_abort: true,
      user_reject: true,
    },
  },
} as const;

export default {
  session: ["session.id"],
  sequence: ["event.sequence"],
  spans: {
    "claude_code.llm_request": { ids: REQUEST, facts: { ...ANSWER, attempts: { of: ["attempt"] } } },
    "claude_code.tool": { ids: { callId: "tool_use_id" } },
    // It has no id of the call
    "claude_code.tool.blocked_on_user": {
      ids: { spanId: PARENT_SPAN },
      facts: { ...DECISION, permissionMs: { of: ["duration_ms"] } },
    },
    // The log of the result measures something else
    "claude_code.tool.execution": {
      ids: { callId: "tool_use_id" },
      facts: { executionMs: { of: ["duration_ms"] } },
    },
  },
  logs: {
    // The span of the turn, `claude_code.interaction`, has no id of the prompt
    user_prompt: { ids: { promptId: "prompt.id" }, isInSpan: true },
    api_request: { ids: REQUEST, facts: { ...ANSWER, costNanoUsd: { of: ["cost_usd"], unit: "usd" } } },
    // It names the category only if the user has switched details on
    api_refusal: { ids: REQUEST, facts: { refusal: { word: "category", or: { is: "refusal" } } } },
    tool_decision: { ids: { callId: "tool_use_id" }, facts: DECISION },
    hook_execution_complete: {
      ids: { promptId: "prompt.id" },
      facts: {
        hook: {
          event: { word: "hook_event" },
          runs: { of: ["num_hooks"] },
          failures: { of: ["num_non_blocking_error", "num_cancelled"] },
          durationMs: { of: ["total_duration_ms"] },
        },
      },
    },
    mcp_server_connection: {
      facts: {
        connection: {
          server: { word: "server_name" },
          state: { word: "status", as: { connected: "connected", failed: "failed", disconnected: "disconnected" } },
          transport: { word: "transport_type" },
          durationMs: { of: ["duration_ms"] },
          errorType: { word: "error_code" },
        },
      },
    },
  },
} satisfies NativeTable;
