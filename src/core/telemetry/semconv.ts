// GenAI conventions: names of the semantic-conventions-genai repository as of October 2026; the npm constants are frozen at
// v1.41. General names: semconv 1.44. Names below `openhook.` are ours. Each needs its exposure in attributes.ts.

export const SERVICE_NAME = "service.name";
export const SERVICE_VERSION = "service.version";

export const GEN_AI_OPERATION_NAME = "gen_ai.operation.name";
export const GEN_AI_PROVIDER_NAME = "gen_ai.provider.name";
export const GEN_AI_CONVERSATION_ID = "gen_ai.conversation.id";
export const GEN_AI_AGENT_NAME = "gen_ai.agent.name";
export const GEN_AI_REQUEST_MODEL = "gen_ai.request.model";
export const GEN_AI_RESPONSE_MODEL = "gen_ai.response.model";
export const GEN_AI_RESPONSE_ID = "gen_ai.response.id";
/** In seconds. */
export const GEN_AI_RESPONSE_FIRST_CHUNK = "gen_ai.response.time_to_first_chunk";
export const GEN_AI_RESPONSE_FINISH_REASONS = "gen_ai.response.finish_reasons";
export const GEN_AI_USAGE_INPUT_TOKENS = "gen_ai.usage.input_tokens";
export const GEN_AI_USAGE_OUTPUT_TOKENS = "gen_ai.usage.output_tokens";
export const GEN_AI_USAGE_CACHE_READ = "gen_ai.usage.cache_read.input_tokens";
export const GEN_AI_USAGE_CACHE_WRITE = "gen_ai.usage.cache_write.input_tokens";
/** The spelling up to v1.41, which most backends still read. */
export const GEN_AI_USAGE_CACHE_CREATION = "gen_ai.usage.cache_creation.input_tokens";
export const GEN_AI_USAGE_REASONING = "gen_ai.usage.reasoning.output_tokens";
export const GEN_AI_TOKEN_MODALITY = "gen_ai.token.modality";
export const GEN_AI_TOOL_NAME = "gen_ai.tool.name";
export const GEN_AI_TOOL_TYPE = "gen_ai.tool.type";
/** `allow` or `deny`. */
export const GEN_AI_TOOL_CALL_DECISION = "gen_ai.tool.call.decision";
export const GEN_AI_TOOL_CALL_ID = "gen_ai.tool.call.id";
/** JSON text: messages of `{role, parts}`, see the conventions' schemas. Content, like the two below. */
export const GEN_AI_INPUT_MESSAGES = "gen_ai.input.messages";
export const GEN_AI_OUTPUT_MESSAGES = "gen_ai.output.messages";
/** The text itself; JSON if it was a value. */
export const GEN_AI_TOOL_CALL_ARGUMENTS = "gen_ai.tool.call.arguments";
export const GEN_AI_TOOL_CALL_RESULT = "gen_ai.tool.call.result";
/** The skill that a tool call loads. */
export const GEN_AI_SKILL_NAME = "gen_ai.skill.name";
export const MCP_METHOD_NAME = "mcp.method.name";
export const ERROR_TYPE = "error.type";
export const EXCEPTION_TYPE = "exception.type";
/** The name of a log record, for backends that do not show OTLP's own field for it. */
export const EVENT_NAME = "event.name";
/** The same for the same log record, however often it is sent. */
export const LOG_RECORD_UID = "log.record.uid";
export const HTTP_RESPONSE_STATUS_CODE = "http.response.status_code";
export const SESSION_ID = "session.id";
export const PROCESS_EXECUTABLE_NAME = "process.executable.name";
export const PROCESS_EXIT_CODE = "process.exit.code";
export const VCS_REPOSITORY_NAME = "vcs.repository.name";
export const VCS_REPOSITORY_URL = "vcs.repository.url.full";
export const VCS_REF_HEAD_NAME = "vcs.ref.head.name";
export const VCS_REF_HEAD_REVISION = "vcs.ref.head.revision";
/** The number of a pull request or merge request. */
export const VCS_CHANGE_ID = "vcs.change.id";
/** The CI job that ran the agent; only in the resource of spans, because each job would start new series of metrics. */
export const CICD_PIPELINE_NAME = "cicd.pipeline.name";
export const CICD_PIPELINE_RUN_ID = "cicd.pipeline.run.id";
export const CICD_PIPELINE_RUN_URL = "cicd.pipeline.run.url.full";
export const CICD_PIPELINE_TASK_NAME = "cicd.pipeline.task.name";
export const CICD_PIPELINE_TASK_RUN_ID = "cicd.pipeline.task.run.id";
export const CICD_PIPELINE_TASK_RUN_URL = "cicd.pipeline.task.run.url.full";

/**
 * What a span represents: `session`, `turn`, `subagent`, `model_call`, `tool_call`, or `late_part`: usage or errors of a turn or subagent
 * that became known after its span was exported.
 */
export const OPENHOOK_SPAN_KIND = "openhook.span.kind";
/** In log records: how long it took. */
export const OPENHOOK_DURATION = "openhook.duration_ms";
export const OPENHOOK_LINK_KIND = "openhook.link.kind";
export const OPENHOOK_SEGMENT = "openhook.session.segment";
export const OPENHOOK_START_ORIGIN = "openhook.session.start_origin";
export const OPENHOOK_END_REASON = "openhook.session.end_reason";
export const OPENHOOK_NATIVE_END_REASON = "openhook.session.native_end_reason";
/** The session whose command started this one: its agent, `session.id` and tool call. */
export const OPENHOOK_PARENT_AGENT = "openhook.parent.agent.name";
export const OPENHOOK_PARENT_SESSION = "openhook.parent.session.id";
export const OPENHOOK_PARENT_CALL = "openhook.parent.tool.call.id";
export const OPENHOOK_TURN_ORIGIN = "openhook.turn.origin";
export const OPENHOOK_TURN_STATE = "openhook.turn.state";
export const OPENHOOK_PROMPT_LENGTH = "openhook.prompt.length";
export const OPENHOOK_BACKGROUND = "openhook.turn.background_tasks";
export const OPENHOOK_MODEL_CALLS = "openhook.model_calls";
export const OPENHOOK_TOOL_CALLS = "openhook.tool_calls";
export const OPENHOOK_TURNS = "openhook.turns";
export const OPENHOOK_SUBAGENTS = "openhook.subagents";
export const OPENHOOK_TOTAL = {
  input: "openhook.session.input_tokens",
  output: "openhook.session.output_tokens",
  cacheRead: "openhook.session.cache_read_tokens",
  cacheWrite: "openhook.session.cache_write_tokens",
} as const;
/** True: the agent never recorded the end of this answer, so its output count is a lower bound. */
export const OPENHOOK_USAGE_INCOMPLETE = "openhook.usage.incomplete";
export const OPENHOOK_CACHE_WRITE_5M = "openhook.usage.cache_write_5m_tokens";
export const OPENHOOK_CACHE_WRITE_1H = "openhook.usage.cache_write_1h_tokens";
/** Why the provider could not read the beginning of a prompt from its cache: see rules/cache-miss.ts. */
export const OPENHOOK_CACHE_MISS_CAUSE = "openhook.cache.miss.cause";
/** The provider's estimate of what followed the first difference. */
export const OPENHOOK_CACHE_MISS_TOKENS = "openhook.cache.miss.tokens";
/** Of a model call that is no part of the conversation: `compaction`, `memory` or `other`. */
export const OPENHOOK_CALL_PURPOSE = "openhook.model_call.purpose";
/** US dollars at list price. Absent: unknown. */
export const OPENHOOK_COST_USD = "openhook.cost.usd";
export const OPENHOOK_COST_SOURCE = "openhook.cost.source";
export const OPENHOOK_PRICE_TABLE = "openhook.cost.price_table";
/** Model calls without a known price; the session's cost is then a lower bound. */
export const OPENHOOK_UNPRICED_CALLS = "openhook.cost.unpriced_calls";
export const OPENHOOK_TOOL_STATUS = "openhook.tool.status";
export const OPENHOOK_TOOL_SUBCOMMAND = "openhook.tool.subcommand";
export const OPENHOOK_TOOL_EXECUTION = "openhook.tool.execution_ms";
export const OPENHOOK_MCP_SERVER = "openhook.mcp.server.name";
export const OPENHOOK_LINES_ADDED = "openhook.code.lines_added";
export const OPENHOOK_LINES_REMOVED = "openhook.code.lines_removed";
export const OPENHOOK_SUBAGENT_ID = "openhook.subagent.id";
export const OPENHOOK_REQUEST_ID = "openhook.request.id";
export const OPENHOOK_SUBAGENT = "openhook.subagent";
export const OPENHOOK_TOKEN_TYPE = "openhook.token.type";
export const OPENHOOK_LINE_CHANGE = "openhook.code.change";
/** Who made a commit: `observed` or `inferred`, see model/changes.ts. */
export const OPENHOOK_CERTAINTY = "openhook.commit.certainty";
/** What a commit reached: `merged`, `reverted` or `gone`. */
export const OPENHOOK_COMMIT_FATE = "openhook.commit.fate";
/** What became of the lines that a commit added: `kept`, `reworked` or `reverted`. */
export const OPENHOOK_LINE_FATE = "openhook.code.fate";
/** Days since the commit reached the default branch: 1, 7 or 30. */
export const OPENHOOK_LINE_AGE = "openhook.code.age_days";
/** `pull_request`, `issue`, `ticket` or `branch`. */
export const OPENHOOK_CHANGE_KIND = "openhook.change.kind";
/** Whether a tool call created the change. */
export const OPENHOOK_CHANGE_CREATED = "openhook.change.created";
/** In the program's own metrics: the agent that sent a payload or wrote a transcript, and its version. */
export const OPENHOOK_SOURCE = "openhook.source";
export const OPENHOOK_SOURCE_VERSION = "openhook.source.version";
export const OPENHOOK_OUTCOME = "openhook.collector.outcome";
export const OPENHOOK_REASON = "openhook.collector.reason";
export const OPENHOOK_SIGNAL = "openhook.collector.signal";
export const OPENHOOK_DRIFT_KIND = "openhook.collector.drift.kind";
export const OPENHOOK_RATE_LIMIT_WINDOW = "openhook.rate_limit.window";
export const OPENHOOK_COVERAGE = "openhook.collector.coverage";
export const OPENHOOK_COLLECTOR_VERSION = "openhook.collector.version";
/** Sums reported by the agent, side requests included; never added to other sums. */
export const OPENHOOK_REPORTED = {
  input: "openhook.reported.input_tokens",
  output: "openhook.reported.output_tokens",
  cacheRead: "openhook.reported.cache_read_tokens",
  cacheWrite: "openhook.reported.cache_write_tokens",
  costUsd: "openhook.reported.cost_usd",
} as const;
/** What an agent's own telemetry adds to our spans. */
export const OPENHOOK_NATIVE = {
  attempts: "openhook.native.attempts",
  server: "openhook.native.server_ms",
  refusal: "openhook.native.refusal",
} as const;
export const OPENHOOK_PERMISSION_WAIT = "openhook.permission.wait_ms";
/** Who decided, in the agent's word. */
export const OPENHOOK_PERMISSION_SOURCE = "openhook.permission.source";
/** An agent's hooks for one event, ours among them, as it measured them. */
export const OPENHOOK_HOOK = {
  event: "openhook.hook.event",
  runs: "openhook.hook.runs",
  failures: "openhook.hook.failures",
  duration: "openhook.hook.duration_ms",
} as const;
/** What started a compaction, in the agent's word. */
export const OPENHOOK_COMPACTION_TRIGGER = "openhook.compaction.trigger";
export const OPENHOOK_MCP_STATE = "openhook.mcp.connection.state";
export const OPENHOOK_MCP_TRANSPORT = "openhook.mcp.connection.transport";
export const OPENHOOK_MCP_DURATION = "openhook.mcp.connection.duration_ms";
