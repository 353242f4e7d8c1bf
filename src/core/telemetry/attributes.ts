import * as semconv from "./semconv.ts";

/**
 * How much an attribute reveals. This decides the capture levels at which it is exported:
 *
 * - `content`: prompts, answers, arguments, results. Exported at `redacted` and above.
 * - `name`: a name from the user's work (repository, branch, program, server). Exported at `metadata` and above.
 * - `reduced`: a name that may be built into the agent. Exported unchanged at `metadata` and above; at `none`, a name that is
 *   not built in is left out or replaced by a category.
 * - `open`: ids, times, counts, statuses and values from fixed lists. Exported at every level.
 */
export type Exposure = "content" | "name" | "reduced" | "open";

/** Every attribute that we emit: the values of `semconv.ts`. */
export type AttributeName = NamesIn<typeof semconv>;

/** The exposure of every attribute. A new name in `semconv.ts` does not compile until it is listed here. */
export const EXPOSURE = {
  [semconv.SERVICE_NAME]: "open",
  [semconv.SERVICE_VERSION]: "open",
  [semconv.GEN_AI_OPERATION_NAME]: "open",
  [semconv.GEN_AI_PROVIDER_NAME]: "open",
  [semconv.GEN_AI_CONVERSATION_ID]: "open",
  [semconv.GEN_AI_AGENT_NAME]: "reduced",
  [semconv.GEN_AI_REQUEST_MODEL]: "open",
  [semconv.GEN_AI_RESPONSE_MODEL]: "open",
  [semconv.GEN_AI_RESPONSE_ID]: "open",
  [semconv.GEN_AI_RESPONSE_FIRST_CHUNK]: "open",
  [semconv.GEN_AI_RESPONSE_FINISH_REASONS]: "open",
  [semconv.GEN_AI_USAGE_INPUT_TOKENS]: "open",
  [semconv.GEN_AI_USAGE_OUTPUT_TOKENS]: "open",
  [semconv.GEN_AI_USAGE_CACHE_READ]: "open",
  [semconv.GEN_AI_USAGE_CACHE_WRITE]: "open",
  [semconv.GEN_AI_USAGE_CACHE_CREATION]: "open",
  [semconv.GEN_AI_USAGE_REASONING]: "open",
  [semconv.GEN_AI_TOKEN_MODALITY]: "open",
  [semconv.GEN_AI_TOOL_NAME]: "reduced",
  [semconv.GEN_AI_TOOL_TYPE]: "open",
  [semconv.GEN_AI_TOOL_CALL_DECISION]: "open",
  [semconv.GEN_AI_TOOL_CALL_ID]: "open",
  [semconv.GEN_AI_INPUT_MESSAGES]: "content",
  [semconv.GEN_AI_OUTPUT_MESSAGES]: "content",
  [semconv.GEN_AI_TOOL_CALL_ARGUMENTS]: "content",
  [semconv.GEN_AI_TOOL_CALL_RESULT]: "content",
  [semconv.GEN_AI_SKILL_NAME]: "name",
  [semconv.MCP_METHOD_NAME]: "open",
  [semconv.ERROR_TYPE]: "open",
  [semconv.EXCEPTION_TYPE]: "open",
  [semconv.EVENT_NAME]: "open",
  [semconv.LOG_RECORD_UID]: "open",
  [semconv.HTTP_RESPONSE_STATUS_CODE]: "open",
  [semconv.SESSION_ID]: "open",
  [semconv.PROCESS_EXECUTABLE_NAME]: "name",
  [semconv.PROCESS_EXIT_CODE]: "open",
  [semconv.VCS_REPOSITORY_NAME]: "name",
  [semconv.VCS_REPOSITORY_URL]: "name",
  [semconv.VCS_REF_HEAD_NAME]: "name",
  [semconv.VCS_REF_HEAD_REVISION]: "name",
  [semconv.VCS_CHANGE_ID]: "name",
  [semconv.CICD_PIPELINE_NAME]: "name",
  [semconv.CICD_PIPELINE_RUN_ID]: "name",
  [semconv.CICD_PIPELINE_RUN_URL]: "name",
  [semconv.CICD_PIPELINE_TASK_NAME]: "name",
  [semconv.CICD_PIPELINE_TASK_RUN_ID]: "name",
  [semconv.CICD_PIPELINE_TASK_RUN_URL]: "name",
  [semconv.OPENHOOK_SPAN_KIND]: "open",
  [semconv.OPENHOOK_DURATION]: "open",
  [semconv.OPENHOOK_LINK_KIND]: "open",
  [semconv.OPENHOOK_SEGMENT]: "open",
  [semconv.OPENHOOK_START_ORIGIN]: "reduced",
  [semconv.OPENHOOK_END_REASON]: "open",
  [semconv.OPENHOOK_NATIVE_END_REASON]: "name",
  [semconv.OPENHOOK_PARENT_AGENT]: "open",
  [semconv.OPENHOOK_PARENT_SESSION]: "open",
  [semconv.OPENHOOK_PARENT_CALL]: "open",
  [semconv.OPENHOOK_TURN_ORIGIN]: "open",
  [semconv.OPENHOOK_TURN_STATE]: "open",
  [semconv.OPENHOOK_PROMPT_LENGTH]: "open",
  [semconv.OPENHOOK_BACKGROUND]: "open",
  [semconv.OPENHOOK_MODEL_CALLS]: "open",
  [semconv.OPENHOOK_TOOL_CALLS]: "open",
  [semconv.OPENHOOK_TURNS]: "open",
  [semconv.OPENHOOK_SUBAGENTS]: "open",
  [semconv.OPENHOOK_TOTAL.input]: "open",
  [semconv.OPENHOOK_TOTAL.output]: "open",
  [semconv.OPENHOOK_TOTAL.cacheRead]: "open",
  [semconv.OPENHOOK_TOTAL.cacheWrite]: "open",
  [semconv.OPENHOOK_CALL_PURPOSE]: "open",
  [semconv.OPENHOOK_USAGE_INCOMPLETE]: "open",
  [semconv.OPENHOOK_CACHE_MISS_CAUSE]: "open",
  [semconv.OPENHOOK_CACHE_MISS_TOKENS]: "open",
  [semconv.OPENHOOK_CACHE_WRITE_5M]: "open",
  [semconv.OPENHOOK_CACHE_WRITE_1H]: "open",
  [semconv.OPENHOOK_COST_USD]: "open",
  [semconv.OPENHOOK_COST_SOURCE]: "open",
  [semconv.OPENHOOK_PRICE_TABLE]: "open",
  [semconv.OPENHOOK_UNPRICED_CALLS]: "open",
  [semconv.OPENHOOK_TOOL_STATUS]: "open",
  [semconv.OPENHOOK_TOOL_SUBCOMMAND]: "name",
  [semconv.OPENHOOK_TOOL_EXECUTION]: "open",
  [semconv.OPENHOOK_MCP_SERVER]: "name",
  [semconv.OPENHOOK_LINES_ADDED]: "open",
  [semconv.OPENHOOK_LINES_REMOVED]: "open",
  [semconv.OPENHOOK_SUBAGENT_ID]: "open",
  [semconv.OPENHOOK_REQUEST_ID]: "open",
  [semconv.OPENHOOK_SUBAGENT]: "open",
  [semconv.OPENHOOK_TOKEN_TYPE]: "open",
  [semconv.OPENHOOK_LINE_CHANGE]: "open",
  [semconv.OPENHOOK_CERTAINTY]: "open",
  [semconv.OPENHOOK_COMMIT_FATE]: "open",
  [semconv.OPENHOOK_LINE_FATE]: "open",
  [semconv.OPENHOOK_LINE_AGE]: "open",
  [semconv.OPENHOOK_CHANGE_KIND]: "open",
  [semconv.OPENHOOK_CHANGE_CREATED]: "open",
  [semconv.OPENHOOK_SOURCE]: "open",
  [semconv.OPENHOOK_SOURCE_VERSION]: "open",
  [semconv.OPENHOOK_OUTCOME]: "open",
  [semconv.OPENHOOK_REASON]: "open",
  [semconv.OPENHOOK_SIGNAL]: "open",
  [semconv.OPENHOOK_DRIFT_KIND]: "open",
  [semconv.OPENHOOK_RATE_LIMIT_WINDOW]: "open",
  [semconv.OPENHOOK_COVERAGE]: "open",
  [semconv.OPENHOOK_COLLECTOR_VERSION]: "open",
  [semconv.OPENHOOK_REPORTED.input]: "open",
  [semconv.OPENHOOK_REPORTED.output]: "open",
  [semconv.OPENHOOK_REPORTED.cacheRead]: "open",
  [semconv.OPENHOOK_REPORTED.cacheWrite]: "open",
  [semconv.OPENHOOK_REPORTED.costUsd]: "open",
  [semconv.OPENHOOK_NATIVE.attempts]: "open",
  [semconv.OPENHOOK_NATIVE.server]: "open",
  [semconv.OPENHOOK_NATIVE.refusal]: "open",
  [semconv.OPENHOOK_PERMISSION_WAIT]: "open",
  [semconv.OPENHOOK_PERMISSION_SOURCE]: "open",
  [semconv.OPENHOOK_HOOK.event]: "open",
  [semconv.OPENHOOK_HOOK.runs]: "open",
  [semconv.OPENHOOK_HOOK.failures]: "open",
  [semconv.OPENHOOK_HOOK.duration]: "open",
  [semconv.OPENHOOK_COMPACTION_TRIGGER]: "name",
  [semconv.OPENHOOK_MCP_STATE]: "open",
  [semconv.OPENHOOK_MCP_TRANSPORT]: "open",
  [semconv.OPENHOOK_MCP_DURATION]: "open",
} as const satisfies Readonly<Record<AttributeName, Exposure>>;

/** Names of the attributes with one of these exposures. */
export const attributesOf = (...exposures: readonly Exposure[]): ReadonlySet<string> =>
  new Set(Object.entries(EXPOSURE).flatMap(([name, exposure]) => (exposures.includes(exposure) ? [name] : [])));

/** Attributes that contain content: absent below `redacted`. */
export const CONTENT_ATTRIBUTES = attributesOf("content");

// --- internal ---

type NamesIn<T> = { [K in keyof T]: T[K] extends string ? T[K] : NamesIn<T[K]> }[keyof T];
