import * as z from "zod";

const count = z.number().int().nonnegative();

/**
 * Tokens of one model call, in OpenTelemetry's meaning: `input` includes what was read from and written to a cache,
 * `output` includes reasoning. The others are subsets and are never added on top. Absent means the agent did not say.
 */
export const TokenUsage = z.object({
  input: count,
  output: count,
  cacheRead: count.optional(),
  cacheWrite: count.optional(),
  /** Subsets of `cacheWrite` by lifetime, where the provider tells them apart. */
  cacheWrite5m: count.optional(),
  cacheWrite1h: count.optional(),
  reasoning: count.optional(),
});
export type TokenUsage = z.infer<typeof TokenUsage>;

export const ToolStatus = z.enum(["success", "error", "denied", "unfinished"]);
export type ToolStatus = z.infer<typeof ToolStatus>;

const at = {
  /** Unique within the session; the same record read again has the same key. */
  key: z.string().min(1),
  timeMs: z.number(),
  /**
   * Set where the agent's ids are unique over all sessions: a second session that holds it holds a copy. Records with
   * one global key have one key.
   */
  globalKey: z.string().optional(),
  /** Key of the prompt whose turn this belongs to; absent before the first one. */
  promptKey: z.string().optional(),
  /** The subagent whose file this stood in; absent on the main thread. */
  agentId: z.string().optional(),
};

/** Facts of the session as a whole; later ones complete earlier ones. */
export const SessionFacts = z.object({
  kind: z.literal("session"),
  ...at,
  agentVersion: z.string().optional(),
  cwd: z.string().optional(),
  gitBranch: z.string().optional(),
  /** The session that this one is a subagent of. */
  parentSessionId: z.string().optional(),
  /** A subagent of this session, by the session id that its own hooks come with. */
  subagentSessionId: z.string().optional(),
});

export const Prompt = z.object({
  kind: z.literal("prompt"),
  ...at,
  /** `command` is a line typed to the agent itself; it opens a turn only if the model was called for it. */
  origin: z.enum(["human", "machine", "command"]),
  /** In UTF-16 code units, as JSON payloads are measured elsewhere. Absent where the text was not plain. */
  length: count.optional(),
});

/** One answer of a model. Several records of one answer carry the same key and are merged by `mergeEntries`. */
export const ModelCallEntry = z.object({
  kind: z.literal("model_call"),
  ...at,
  responseId: z.string().optional(),
  requestId: z.string().optional(),
  /** Of a pass that counts as a call of its own: the id of the answer that it stands beside, whose figures leave it out. */
  besideResponseId: z.string().optional(),
  model: z.string().optional(),
  /** OpenTelemetry's name of who answered, where the agent talks to several. */
  provider: z.string().optional(),
  requestedModel: z.string().optional(),
  /** When the request left, as well as the transcript can tell. */
  startMs: z.number().optional(),
  /** Time of the last record of this answer. */
  endMs: z.number(),
  usage: TokenUsage.optional(),
  /** False while no record of this answer says how it finished: its output count is a lower bound. */
  complete: z.boolean(),
  finishReason: z.string().optional(),
  /** The answer asked for tools: its turn goes on. */
  asksForTools: z.literal(true).optional(),
  /**
   * Set where the usage is not that of one call: it counts as tokens and cost, not as a call. `turn`: of calls that nobody
   * tells one by one; `session`: of all calls, so that it is dropped where any is told with its tokens.
   */
  covers: z.enum(["turn", "session"]).optional(),
  /** Charged by another list than the one that prices are told by, e.g. for being faster. */
  noListPrice: z.literal(true).optional(),
});

export const ToolUseEntry = z.object({
  kind: z.literal("tool_use"),
  ...at,
  callId: z.string().min(1),
  name: z.string(),
  executable: z.string().optional(),
  mcpServer: z.string().optional(),
  /** As in the hooks' `input_digest`, where those have no call id to join by. */
  inputDigest: z.string().optional(),
  /** As in the hooks' `given_id`, where other calls can have the same: `callId` is the one that is told apart. */
  givenId: z.string().optional(),
});

export const ToolResultEntry = z.object({
  kind: z.literal("tool_result"),
  ...at,
  callId: z.string().min(1),
  status: ToolStatus,
  /** Set on errors that have a name of low cardinality, e.g. `interrupted`. */
  errorType: z.string().optional(),
  exitCode: z.number().int().optional(),
  linesAdded: count.optional(),
  linesRemoved: count.optional(),
  spawnedAgentId: z.string().optional(),
  durationMs: z.number().nonnegative().optional(),
});

/** A model call that failed. `final` false: the agent tried again. */
export const ModelErrorEntry = z.object({
  kind: z.literal("model_error"),
  ...at,
  errorType: z.string(),
  httpStatus: z.number().int().optional(),
  final: z.boolean(),
});

export const InterruptionEntry = z.object({ kind: z.literal("interruption"), ...at });
export const TurnEndEntry = z.object({ kind: z.literal("turn_end"), ...at, durationMs: z.number().optional() });
export const CompactionEntry = z.object({ kind: z.literal("compaction"), ...at, trigger: z.string().optional() });

export const SubagentEntry = z.object({
  kind: z.literal("subagent"),
  ...at,
  /** `agentId` above is the subagent itself. */
  agentType: z.string().optional(),
  parentCallId: z.string().optional(),
  /** In its place the `givenId` of that call: of those of `parentAgentId`, the last that had begun. */
  parentGivenId: z.string().optional(),
  parentAgentId: z.string().optional(),
});

/** Sums that the agent keeps itself, cumulative over the session; a cross-check, never added to anything. */
export const ReportedUsageEntry = z.object({
  kind: z.literal("reported_usage"),
  ...at,
  byModel: z.record(z.string(), TokenUsage.extend({ costUsd: z.number().nonnegative().optional() })),
});

/** Our normal form of one record of an agent's transcript. Metadata only: no text of any kind. */
export const TranscriptEntry = z.discriminatedUnion("kind", [
  SessionFacts,
  Prompt,
  ModelCallEntry,
  ToolUseEntry,
  ToolResultEntry,
  ModelErrorEntry,
  InterruptionEntry,
  TurnEndEntry,
  CompactionEntry,
  SubagentEntry,
  ReportedUsageEntry,
]);
export type TranscriptEntry = z.infer<typeof TranscriptEntry>;
export type EntryOf<K extends TranscriptEntry["kind"]> = Extract<TranscriptEntry, { kind: K }>;
export type ModelCallEntry = z.infer<typeof ModelCallEntry>;

/**
 * Where reading a transcript file stopped. `bytes` is the end of the last complete line; `memo` is what the reader
 * must remember to go on from there (plain JSON, meaning known to the reader alone).
 */
export const Offset = z.object({ bytes: count, memo: z.record(z.string(), z.unknown()) });
export type Offset = z.infer<typeof Offset>;
