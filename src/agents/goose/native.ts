// https://goose-docs.ai/docs/guides/environment-variables, and the program: 1.52.0
import type { NativeTable } from "#core/model/native-table.ts";

export default {
  // Unique in one database only
  session: ["session.id", "gen_ai.conversation.id"],
  spans: {
    stream_response_from_provider: {
      ids: { responseId: "gen_ai.response.id" },
      facts: {
        tokens: {
          input: { of: ["gen_ai.usage.input_tokens", "-gen_ai.usage.cache_read.input_tokens"] },
          output: { of: ["gen_ai.usage.output_tokens"] },
          cacheRead: { of: ["gen_ai.usage.cache_read.input_tokens"] },
        },
      },
    },
    // It ends when the call was handed over: its time says nothing
    dispatch_tool_call: { ids: { callId: "gen_ai.tool.call.id" } },
  },
  logs: {},
} satisfies NativeTable;
