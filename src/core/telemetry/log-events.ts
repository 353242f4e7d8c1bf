/** Every log record that is sent: its name, and what it stands for. docs/logs.md is written from this list. */
export const LOG_EVENTS = {
  prompt: {
    name: "openhook.prompt",
    meaning: "a turn began: who or what started it, the prompt's length, the repository",
  },
  turn: { name: "openhook.turn.end", meaning: "a turn ended: how, its sums, its cost" },
  model_call: {
    name: "gen_ai.client.inference.operation.details",
    meaning: "a model call: model, tokens, cache, finish reason, cost",
  },
  tool_call: { name: "openhook.tool_call", meaning: "a tool call: tool, status, exit code, changed lines" },
  decision: {
    name: "openhook.tool_call.decision",
    meaning: "a tool call was allowed or denied, by whom, and how long it waited, if the agent's own telemetry says so",
  },
  exception: {
    name: "gen_ai.client.operation.exception",
    meaning: "a request to the provider failed: type of the error, HTTP status (WARN)",
  },
  compaction: { name: "openhook.compaction", meaning: "the agent shortened its context, and why" },
  subagent: { name: "openhook.subagent", meaning: "a subagent ended: its sums, its cost" },
  session: { name: "openhook.session.end", meaning: "a session, or a segment of it, ended: why, its sums, its cost" },
  late_part: {
    name: "openhook.late_part",
    meaning: "usage or errors of a turn or subagent that became known after its span was sent",
  },
  hook: { name: "openhook.native.hook", meaning: "hooks that the agent ran for an event, as it measured them" },
  connection: { name: "openhook.native.mcp_connection", meaning: "the agent connected to an MCP server, or could not" },
  late: {
    name: "openhook.native.late",
    meaning: "what the agent's own telemetry said of a call after its span was sent",
  },
} as const;
