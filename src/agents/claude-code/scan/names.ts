/**
 * Members of a line, and texts in them, that say something; `assembly/numbers.ts` has the same ones in the same order. Every
 * member that `lines.ts` looks at is among them, or one of `UNREAD`.
 */
export const NAMES: readonly string[] =
  `type timestamp message isSidechain uuid version cwd gitBranch requestId requestRef
  requestedModel toolUseResult promptId permissionDecision promptSource origin id content model stop_reason usage input_tokens
  output_tokens cache_read_input_tokens cache_creation_input_tokens cache_creation ephemeral_5m_input_tokens
  ephemeral_1h_input_tokens output_tokens_details thinking_tokens name input command tool_use_id is_error text interrupted
  agentId structuredPatch lines decision kind subtype isMeta isCompactSummary isVisibleInTranscriptOnly repeatsCompactSummary
  interruptedMessageId toolDenialKind stop_details iterations speed forkedFrom commandName user assistant system attachment api-request cost-state tool_use
  tool_result api_error compact_boundary turn_duration reject human create fast structured_output <synthetic>`.split(
    /\s+/,
  );

/** Members that only lines have which are read the long way, by their type or by a text in them. */
export const UNREAD: readonly string[] = `isApiErrorMessage apiErrorType apiErrorStatus error compactMetadata durationMs
  modelUsage turnOrigin toolDenialBeforeRun messageUuid parentUuid sourceToolUseID`.split(/\s+/);
