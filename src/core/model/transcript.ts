import * as z from "zod";
import { ChangeFact, CommitFact } from "./changes.ts";
import { FileWrite } from "./file-write.ts";

const count = z.number().int().nonnegative();

/**
 * Tokens of one model call, in OpenTelemetry's meaning: `input` includes cache reads and writes, `output` includes reasoning.
 * The others are subsets and are never added to them. Absent: unknown, never 0.
 */
export const TokenUsage = z.object({
  input: count.optional(),
  output: count.optional(),
  cacheRead: count.optional(),
  cacheWrite: count.optional(),
  /** Subsets of `cacheWrite` by lifetime, if the provider reports them. */
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
   * Set if the agent's ids are unique over all sessions: another session with the same global key holds a copy. Records with
   * one global key have one key.
   */
  globalKey: z.string().optional(),
  /** Key of the prompt whose turn this belongs to; absent before the first one. */
  promptKey: z.string().optional(),
  /** The subagent whose file contains this; absent for the main agent. */
  agentId: z.string().optional(),
};

/** Facts about the whole session; later ones complete earlier ones. */
/** What fills the context, in tokens, as the agent counts it. */
const ContextParts = z.object({ system: count, tools: count, conversation: count });
export type ContextParts = z.infer<typeof ContextParts>;

const SessionFacts = z.object({
  kind: z.literal("session"),
  ...at,
  agentVersion: z.string().optional(),
  cwd: z.string().optional(),
  gitBranch: z.string().optional(),
  /**
   * How the agent notes branches. `followed`: each time another one is checked out; then no `gitBranch` means that none is, or that it is
   * unknown. `once`: only where the session, or a run of the agent, began. Absent: this says nothing about branches.
   */
  branches: z.enum(["followed", "once"]).optional(),
  /** The session that this one is a subagent of. */
  parentSessionId: z.string().optional(),
  /** A subagent of this session, by the session id that its own hooks send. */
  subagentSessionId: z.string().optional(),
  /** When the agent ended. */
  contextParts: ContextParts.optional(),
});

const Prompt = z.object({
  kind: z.literal("prompt"),
  ...at,
  /** `command` is a line typed for the agent itself; it opens a turn only if it led to model calls. */
  origin: z.enum(["human", "machine", "command"]),
  /** In UTF-16 code units, as JSON payloads are measured elsewhere. Absent if the prompt was not plain text. */
  length: count.optional(),
});

/** `tokens`: the provider's estimate of what followed the first difference to the request before. */
const CacheMiss = z.object({ reason: z.string(), tokens: count.optional() });

/** One answer of a model. Several records of one answer share a key and are merged by `mergeEntries`. */
const ModelCallEntry = z.object({
  kind: z.literal("model_call"),
  ...at,
  responseId: z.string().optional(),
  requestId: z.string().optional(),
  /** For a side pass that counts as a separate call: id of the answer it belongs to, whose usage excludes it. */
  besideResponseId: z.string().optional(),
  model: z.string().optional(),
  /** Set for a request that is no part of the conversation: the agent compacts it, stores memories, or does other internal work. */
  purpose: z.enum(["compaction", "memory", "other"]).optional(),
  /** OpenTelemetry's provider name, if the agent talks to several. */
  provider: z.string().optional(),
  requestedModel: z.string().optional(),
  /** When the request was sent, if the transcript shows it. */
  startMs: z.number().optional(),
  /** Time of the last record of this answer. */
  endMs: z.number(),
  usage: TokenUsage.optional(),
  /** False while no record of this answer has a finish reason: its output count is a lower bound. */
  complete: z.boolean(),
  finishReason: z.string().optional(),
  /** The answer called tools, so its turn continues. */
  asksForTools: z.literal(true).optional(),
  /**
   * Set if the usage is not that of one call: it counts as tokens and cost, not as a call. `turn`: calls that are not reported
   * one by one; `session`: all calls, and dropped if any single call has tokens; `removed`: calls between `startMs` and `endMs`
   * that the agent removed from its transcript, and only those count that were not read before.
   */
  covers: z.enum(["turn", "session", "removed", "unknown"]).optional(),
  /** Of such usage: how many calls it is of, if the agent says so. They then count as calls. */
  coveredCalls: count.min(1).optional(),
  /** Service tier, if it is not the standard one: `fast`, `priority`, `flex`, `batch`; several with `+`; or `UNKNOWN_TIER`. */
  tier: z.string().optional(),
  /** Searches of the provider during this answer, which it charges besides tokens. */
  webSearches: count.optional(),
  /** The provider charged something else besides tokens. */
  hasOtherFees: z.literal(true).optional(),
  /** What the agent's vendor charged for this answer, in 10⁻⁹ of its own unit; an explicit zero is a figure. */
  nanoCredits: count.optional(),
  /** Why the provider could not read the beginning of the prompt from its cache, in its words. */
  cacheMiss: CacheMiss.optional(),
});

const ToolUseEntry = z.object({
  kind: z.literal("tool_use"),
  ...at,
  callId: z.string().min(1),
  name: z.string(),
  executable: z.string().optional(),
  mcpServer: z.string().optional(),
  skill: z.string().optional(),
  /** Like the hooks' `input_digest`, if hooks have no call id to join by. */
  inputDigest: z.string().optional(),
  /** Like the hooks' `given_id`, if several calls can share it; `callId` is then the unique one. */
  givenId: z.string().optional(),
  /** What the call changes in files, as far as its arguments say it. It did so only if it succeeded. */
  files: z.array(FileWrite).readonly().optional(),
});

const ToolResultEntry = z.object({
  kind: z.literal("tool_result"),
  ...at,
  callId: z.string().min(1),
  status: ToolStatus,
  /** Set for errors with a low-cardinality name, e.g. `interrupted`. */
  errorType: z.string().optional(),
  exitCode: z.number().int().optional(),
  linesAdded: count.optional(),
  linesRemoved: count.optional(),
  spawnedAgentId: z.string().optional(),
  durationMs: z.number().nonnegative().optional(),
  /** What the call changed in files, as the agent reports it; more exact than the arguments. */
  files: z.array(FileWrite).readonly().optional(),
});

/** When the agent ran the hooks of a call, if the transcript shows it: hooks that report no call id arrived in that time. */
const HookRunEntry = z.object({
  kind: z.literal("hook_run"),
  ...at,
  callId: z.string().min(1),
  /** At the start or at the end of the call. `timeMs` is when the hooks began. */
  at: z.enum(["start", "end"]),
  endMs: z.number(),
});

/** A failed model call. `final` false: the agent retried. */
const ModelErrorEntry = z.object({
  kind: z.literal("model_error"),
  ...at,
  errorType: z.string(),
  httpStatus: z.number().int().optional(),
  final: z.boolean(),
});

const InterruptionEntry = z.object({ kind: z.literal("interruption"), ...at });
const TurnEndEntry = z.object({ kind: z.literal("turn_end"), ...at, durationMs: z.number().optional() });
const CompactionEntry = z.object({ kind: z.literal("compaction"), ...at, trigger: z.string().optional() });

/** Another process of the agent continues the session from here on: the one before it has ended or was killed. */
const ResumptionEntry = z.object({ kind: z.literal("resumption"), ...at });

const SubagentEntry = z.object({
  kind: z.literal("subagent"),
  ...at,
  /** `agentId` above is the subagent itself. */
  agentType: z.string().optional(),
  parentCallId: z.string().optional(),
  /** Instead of `parentCallId`, that call's `givenId`: the latest started call of `parentAgentId` with that id. */
  parentGivenId: z.string().optional(),
  parentAgentId: z.string().optional(),
});

/** Sums that the agent keeps itself, cumulative over the session; for cross-checks, never added to anything. */
const ReportedUsageEntry = z.object({
  kind: z.literal("reported_usage"),
  ...at,
  byModel: z.record(
    z.string(),
    TokenUsage.extend({ costUsd: z.number().nonnegative().optional(), webSearches: count.optional() }),
  ),
});

/** A commit of the session, found in a tool call's result or in the log of HEAD. */
const CommitEntry = z.object({ kind: z.literal("commit"), ...at, ...CommitFact.shape });

/** A pull request, issue, ticket or branch of the session. */
const ChangeEntry = z.object({ kind: z.literal("change"), ...at, ...ChangeFact.shape });

/** Our normal form of one transcript record. Metadata only: no text of any kind. */
export const TranscriptEntry = z.discriminatedUnion("kind", [
  SessionFacts,
  Prompt,
  ModelCallEntry,
  ToolUseEntry,
  ToolResultEntry,
  HookRunEntry,
  ModelErrorEntry,
  InterruptionEntry,
  TurnEndEntry,
  CompactionEntry,
  ResumptionEntry,
  SubagentEntry,
  ReportedUsageEntry,
  CommitEntry,
  ChangeEntry,
]);
export type TranscriptEntry = z.infer<typeof TranscriptEntry>;
export type EntryOf<K extends TranscriptEntry["kind"]> = Extract<TranscriptEntry, { kind: K }>;

/**
 * Where reading a transcript stopped. `bytes` is the end of the last complete line; `memo` is what the reader needs to continue
 * from there (plain JSON, only the reader knows its meaning).
 */
export const Offset = z.object({ bytes: count, memo: z.record(z.string(), z.unknown()) });
export type Offset = z.infer<typeof Offset>;
