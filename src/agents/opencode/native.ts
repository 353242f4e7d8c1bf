// https://opencode.ai/docs/, and the program: 1.18.33
import type { NativeTable } from "#core/model/native-table.ts";

/** Without `experimental.openTelemetry` nothing else has the id of a session. */
export default {
  session: ["session.id"],
  spans: {
    // Its time includes the wait for permission
    "Tool.execute": { ids: { callId: "tool.call_id" } },
  },
  logs: {},
} satisfies NativeTable;
