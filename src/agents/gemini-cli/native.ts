// https://geminicli.com/docs/cli/telemetry/, and the program: 0.61.0
import { DURATION, type NativeTable } from "#core/model/native-table.ts";

/** Its records of decisions and retries have no id of a call, and its session files none of a response. */
export default {
  session: ["session.id", "gen_ai.conversation.id"],
  spans: {
    tool_call: { ids: { callId: "gen_ai.tool.call_id" }, facts: { executionMs: { of: [DURATION] } } },
  },
  logs: {
    "gemini_cli.hook_call": {
      facts: {
        hook: {
          event: { word: "hook_event_name" },
          runs: { is: 1 },
          failures: { word: "success", as: { true: 0, false: 1 } },
          durationMs: { of: ["duration_ms"] },
        },
      },
    },
  },
} satisfies NativeTable;
