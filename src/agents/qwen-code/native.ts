// https://qwenlm.github.io/qwen-code-docs/en/developers/development/telemetry/, and the program: 0.24.4
import type { NativeTable } from "#core/model/native-table.ts";

const CALL = { callId: "tool.call_id" };

export default {
  session: ["session.id"],
  spans: {
    "qwen-code.llm_request": {
      ids: { responseId: "gen_ai.response.id" },
      facts: {
        firstTokenMs: { of: ["gen_ai.response.time_to_first_chunk"], unit: "s" },
        // Its `attempt` leaves out the requests that its library for HTTP repeats
        tokens: {
          input: { of: ["gen_ai.usage.input_tokens", "-gen_ai.usage.cache_read.input_tokens"] },
          output: { of: ["gen_ai.usage.output_tokens"] },
          cacheRead: { of: ["gen_ai.usage.cache_read.input_tokens"] },
        },
      },
    },
    "qwen-code.tool": { ids: CALL },
    "qwen-code.tool.blocked_on_user": { ids: CALL, facts: { permissionMs: { of: ["duration_ms"] } } },
    "qwen-code.tool.execution": { ids: CALL, facts: { executionMs: { of: ["duration_ms"] } } },
    // All hooks of an event. It says that those without output failed, so its word on failures is not used
    "qwen-code.hook": {
      facts: { hook: { event: { word: "hook_event" }, durationMs: { of: ["duration_ms"] } } },
    },
  },
  logs: {
    "qwen-code.tool_call": {
      ids: { callId: "call_id" },
      facts: {
        decision: {
          word: "decision",
          as: { accept: "allow", auto_accept: "allow", modify: "allow", reject: "deny" },
          or: { word: "error_type", as: { execution_denied: "deny" } },
        },
        byUser: { word: "decision", as: { accept: true, auto_accept: false, modify: true, reject: true } },
        // Without a terminal nobody was asked
        decidedBy: { word: "decision", or: { word: "error_type", as: { execution_denied: "execution_denied" } } },
      },
    },
  },
} satisfies NativeTable;
