// https://docs.github.com/en/copilot/reference/copilot-cli-reference, and the program: 1.0.102
import { DURATION, type NativeTable, PARENT_SPAN } from "#core/model/native-table.ts";

/** The hooks of an event ran together: how many there were, it does not say. */
const HOOKS = {
  "github.copilot.hook.end": {
    facts: {
      hook: {
        event: { word: "github.copilot.hook.type" },
        durationMs: { of: ["github.copilot.hook.duration"], unit: "s" },
      },
    },
  },
  // It names a server only if the user lets it export content
  "github.copilot.mcp.server.lifecycle": {
    facts: {
      connection: {
        server: { word: "github.copilot.mcp.server.name" },
        state: {
          word: "github.copilot.mcp.server.state",
          as: { initialized: "connected", failed: "failed", disconnected: "disconnected" },
        },
      },
    },
  },
} as const;

export default {
  session: ["gen_ai.conversation.id"],
  sequence: ["github.copilot.hook.invocation_id", "github.copilot.mcp.server.name_hash"],
  spans: {
    "chat *": {
      ids: { responseId: "gen_ai.response.id" },
      facts: {
        firstTokenMs: { of: ["gen_ai.response.time_to_first_chunk"], unit: "s" },
        serverMs: { of: ["github.copilot.server_duration"] },
        // What it calls cost is premium requests, not money
        tokens: {
          input: { of: ["gen_ai.usage.input_tokens", "-gen_ai.usage.cache_read.input_tokens"] },
          output: { of: ["gen_ai.usage.output_tokens"] },
          cacheRead: { of: ["gen_ai.usage.cache_read.input_tokens"] },
        },
      },
    },
    // Its time includes the hooks and the wait for permission
    "execute_tool *": { ids: { callId: "gen_ai.tool.call.id" } },
    // Only of calls that a rule of its command line does not allow
    permission: {
      ids: { spanId: PARENT_SPAN },
      facts: {
        permissionMs: { of: [DURATION] },
        decision: {
          word: "github.copilot.permission.result",
          as: {
            approved: "allow",
            "approved-for-session": "allow",
            "approved-for-location": "allow",
            "approved-read-only-for-session": "allow",
            "denied-by-rules": "deny",
            "denied-by-content-exclusion-policy": "deny",
            "denied-by-permission-request-hook": "deny",
            "denied-interactively-by-user": "deny",
            "denied-no-approval-rule-and-could-not-request-from-user": "deny",
            "denied-no-approval-rule-and-user-rejected": "deny",
          },
        },
        decidedBy: { word: "github.copilot.permission.result" },
        // What was approved at once can have been approved by a rule
        byUser: {
          word: "github.copilot.permission.result",
          as: {
            "approved-for-session": true,
            "approved-for-location": true,
            "approved-read-only-for-session": true,
            "denied-by-rules": false,
            "denied-by-content-exclusion-policy": false,
            "denied-by-permission-request-hook": false,
            "denied-interactively-by-user": true,
            "denied-no-approval-rule-and-could-not-request-from-user": false,
            "denied-no-approval-rule-and-user-rejected": true,
          },
        },
      },
    },
    // The turn, and with a name a subagent: neither has an id that the session files have
    invoke_agent: { events: HOOKS },
    "invoke_agent *": { events: HOOKS },
  },
  logs: {},
} satisfies NativeTable;
