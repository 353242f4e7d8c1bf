import type { SessionEndReason } from "./envelope.ts";
import type { Event } from "./event-schema.ts";
import type { FileWrite } from "./file-write.ts";
import type { CallSums, KnownCall, ModelCall } from "./model-call.ts";
import type { JoinedNative } from "./native.ts";
import type { ToolStatus, TranscriptEntry } from "./transcript.ts";

/** One tool call. */
export interface ToolCall {
  readonly callId: string;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  /** `open`: no end reported yet. */
  readonly status: ToolStatus | "open";
  /** Pure execution time as measured by the agent; the time from start to end includes waiting for permission. */
  readonly executionMs?: number;
  readonly errorType?: string;
  readonly exitCode?: number;
  readonly executable?: string;
  readonly subcommand?: string;
  readonly mcpServer?: string;
  /** The skill that it loads. */
  readonly skill?: string;
  readonly linesAdded?: number;
  readonly linesRemoved?: number;
  /** Files it wrote, as hooks or the transcript report them; never exported. Absent: none, or unknown. */
  readonly files?: readonly FileWrite[];
  readonly spawnedAgentId?: string;
  /** Digest of the input, if calls of hooks and transcript are matched by it. */
  readonly inputDigest?: string;
  /** The provider's id, if several calls can share it: replaces the input when calls are matched. */
  readonly givenId?: string;
  /** Which events hooks without call ids reported. Each is reported once, so another start or end belongs to another call. */
  readonly hooks?: "start" | "end" | "both";
  readonly agentId?: string;
  /** See `ModelCall.native`. */
  readonly native?: JoinedNative;
}

export interface ModelError {
  readonly timeMs: number;
  readonly errorType: string;
  readonly httpStatus?: number;
  readonly final: boolean;
}

/** What turns and subagents have in common: one run of an agent over model calls and tool calls. */
export interface Run {
  readonly startMs: number;
  readonly endMs: number;
  readonly modelCalls: readonly ModelCall[];
  readonly toolCalls: readonly ToolCall[];
  readonly errors: readonly ModelError[];
  /** No more facts are expected; the spans below it can be exported. */
  readonly closed: boolean;
  /** Ids of the events and keys of the entries it was built from. */
  readonly uses: readonly string[];
  /** It is what became known of an exported run after the segment's end: it has no span of a turn and counts as none. */
  readonly isLate?: true;
  /** Calls that were settled while it was open, in addition to `modelCalls` and `toolCalls`; absent if there are none. */
  readonly settled?: SettledWork;
  /** See `ModelCall.native`. */
  readonly native?: JoinedNative;
}

/** What was settled of a run while it was open. */
export interface SettledWork {
  readonly startMs: number;
  readonly endMs: number;
  /** Of its model calls. */
  readonly sums: CallSums;
  /** Number of its tool calls. */
  readonly toolCalls: number;
  /** Each model once. */
  readonly models: readonly string[];
}

export type RunKind = "turn" | "subagent";

/** From a user prompt to the agent's last answer to it. */
export interface Turn extends Run {
  readonly key: string;
  /**
   * Source of the prompt: a human, the agent itself (`machine`), unknown (`none`: activity without a prompt, which gets no turn
   * span), or an already closed turn that continues (`continuation`).
   */
  readonly origin: "human" | "machine" | "continuation" | "none";
  /** Ordinal of its segment. */
  readonly segment: number;
  /** `unfinished`: the session ended or continued without the agent reporting the turn's end. */
  readonly state: "open" | "ended" | "failed" | "interrupted" | "unfinished";
  readonly errorType?: string;
  readonly promptLength?: number;
  /** A hook reported the prompt, not only the transcript. */
  readonly hasHookPrompt: boolean;
  /** Tasks left in the background when the turn ended. */
  readonly backgroundCount: number;
  /** Set if it is a part of a turn whose span was exported: that span's key. */
  readonly exportedKey?: string;
}

export interface Subagent extends Run {
  /** The agent's id; with a number appended for later activity of a closed subagent. */
  readonly key: string;
  readonly agentId: string;
  readonly agentType?: string;
  /** The tool call that started it; absent if no record names one. */
  readonly parentCallId?: string;
  /** The turn it belongs to; absent if it was started outside any turn. */
  readonly turnKey?: string;
  readonly segment: number;
  /** Set if it is a part of a subagent whose span was exported: that span's key. */
  readonly exportedKey?: string;
}

/** From a start to an end; a resumed session has several segments. */
export interface Segment {
  readonly ordinal: number;
  readonly startMs: number;
  /** Absent while it is open. */
  readonly endMs?: number;
  readonly reason?: SessionEndReason;
  readonly nativeReason?: string;
  /** `startup`, `resume`, `fork` …; absent if no start was seen. */
  readonly startOrigin?: string;
  readonly lastActivityMs: number;
  /** The process with which it began, from `SessionContext.processes`; absent if unknown. */
  readonly process?: string;
  /** Ids of the start and end events it was built from. */
  readonly uses: readonly string[];
  /** What the agent's own telemetry adds that belongs to no turn. */
  readonly native?: JoinedNative;
}

/** Facts of a session that are the same for all its parts. */
export interface SessionFacts {
  readonly source: string;
  /** Unique in this store. */
  readonly sessionId: string;
  /** Unique in the world, if `sessionId` is not. @default sessionId */
  readonly identity?: string;
  readonly provider?: string;
  /** The agent reports no tokens, or it is unknown whether it does: without tokens, usage is unknown and not 0. */
  readonly usageUnknown?: true;
  /** The agent reports no turn ends: the next prompt or the session's end closes a turn. */
  readonly reportsNoTurnEnds?: true;
  /** The session can be complete while its subagents still work. */
  readonly endsBeforeSubagents?: true;
  /** The agent reports no end: an ordinary session ends by going idle. */
  readonly endsSilently?: true;
  /** A call of a tool that is not in the transcript shows that the model call is not there either. */
  readonly writesAfterTools?: true;
  /** Hooks say which agent a call belongs to; see `Agent`. */
  readonly hooksNameAgents?: true | "with-prompts";
  readonly agentVersion?: string;
  readonly repository?: Repository;
}

/** The repository of the session's folder, read from `.git`. */
export interface Repository {
  /** Last part of the remote's path, or the folder's name. */
  readonly name: string;
  /** Remote without credentials. */
  readonly url?: string;
  readonly branch?: string;
  readonly revision?: string;
}

/** The agent shortened its context, inside a turn or between two. */
export interface Compaction {
  readonly key: string;
  readonly timeMs: number;
  readonly trigger?: string;
  /** The subagent whose context it was. */
  readonly agentId?: string;
}

/** Sums reported by the agent itself; separate from everything else. */
export type ReportedUsage = Extract<TranscriptEntry, { kind: "reported_usage" }>["byModel"];

/** A session, or the unsettled part of one. */
export interface Session {
  readonly facts: SessionFacts;
  readonly segments: readonly Segment[];
  readonly turns: readonly Turn[];
  readonly subagents: readonly Subagent[];
  /** Of open runs with thousands of calls: those that can be settled now, under the key of the run, which contains them too. */
  readonly finishedParts: readonly (Turn | Subagent)[];
  readonly compactions: readonly Compaction[];
  readonly reportedUsage?: ReportedUsage;
  /** Ids of events and keys of entries without effect: duplicates, or facts about parts that are already settled. */
  readonly unused: readonly string[];
  /** Number of transcript lines expected soon: the closing line of a turn, the result of a call. */
  readonly expectedLines: number;
}

/** Settled parts of the session that unsettled facts may refer to. */
export interface SessionContext {
  /** The last segment, open or ended; absent for a new session. */
  readonly segment?: Segment;
  readonly turns: ReadonlyMap<string, SettledTurn>;
  /** Old turn key → new one, for turns that continue under another key: see `withLatePrompts`. */
  readonly renamed?: ReadonlyMap<string, string>;
  readonly subagents: ReadonlyMap<string, SettledSubagent>;
  /** Subagent id → the settled call that started it, for subagents of which nothing is settled yet. */
  readonly spawnedBy?: ReadonlyMap<string, string>;
  /** Calls of this session were reported one by one, so session totals add nothing. */
  readonly knowsCalls: boolean;
  /** Ids of settled tool calls: repeated facts about them change nothing. */
  readonly callIds: ReadonlySet<string>;
  /** Transcript ids of calls that were settled under ids we assigned; no exported span has them. */
  readonly unusedIds?: ReadonlySet<string>;
  /** Settled calls that facts without a call id may be about. */
  readonly calls: readonly SettledCall[];
  /** What was settled of runs that are open, by `runKeyOf`; absent if there is none. */
  readonly openWork?: ReadonlyMap<string, SettledWork>;
  /** Processes of the agent that worked on the session; absent if they are not known. */
  readonly processes?: readonly SessionProcess[];
  /** When processes started that followed one without an end; absent if no fact needs them. In milliseconds since the epoch. */
  readonly processStarts?: readonly number[];
  /** Settled model calls that sums over removed calls may cover. */
  readonly coveredCalls?: readonly KnownCall[];
}

/** A process of the agent, and when its first and last hook in the session ran. */
export interface SessionProcess {
  readonly process: string;
  readonly firstMs: number;
  readonly lastMs: number;
}

export type SettledCall = Pick<
  ToolCall,
  "callId" | "name" | "inputDigest" | "givenId" | "startMs" | "endMs" | "hooks" | "status" | "agentId"
>;

export interface SettledTurn {
  readonly segment: number;
  readonly state: Turn["state"];
  readonly startMs: number;
  readonly endMs: number;
  /** Number of settled parts; the next one becomes the continuation with this number. */
  readonly parts: number;
  readonly promptLength?: number;
  /** A hook reported its prompt. */
  readonly hasHook: boolean;
  /** Only hooks reported it, and the agent has no prompt ids: its key is the hook's event. */
  readonly hookOnly?: true;
  /** Its latest span; absent if it was pruned. */
  readonly span?: ExportedSpan;
}

export interface SettledSubagent {
  readonly segment: number;
  readonly turnKey?: string;
  readonly parentCallId?: string;
  readonly agentType?: string;
  readonly parts: number;
  readonly span?: ExportedSpan;
}

/** The span of a settled turn or subagent: its key, and its segment, which decides the trace. */
export interface ExportedSpan {
  readonly key: string;
  readonly segment: number;
}

/** The end of a session that went idle. For agents that report no end, the last turn decides the reason. */
export const ENDED_IDLE = { reason: "timeout", nativeReason: "idle" } as const;

/** The end of a session that the user ended with `drain --end-idle`. */
export const ENDED_BY_USER = { reason: "timeout", nativeReason: "ended_by_user" } as const;

/** The end of a session whose agent's process is gone without having reported an end. */
export const ENDED_WITH_PROCESS = { reason: "timeout", nativeReason: "process_gone" } as const;

/** Our reason for a segment without an end whose process was followed by another one. */
export const SUPERSEDED = "superseded";

/** When the calls of open runs are settled before the runs end. */
export interface PartLimits {
  /** Number of open calls of a session from which some are settled. */
  readonly openCalls: number;
  /** How many of the newest calls of each run stay: errors are compared with the calls around them. */
  readonly keptCalls: number;
  /** Calls that ended within this time before the latest activity stay: facts about one call are written at different times. */
  readonly lateFactsMs: number;
}

/** Everything that `buildSession` uses. */
export interface SessionInput {
  readonly facts: SessionFacts;
  readonly events: readonly Event[];
  readonly entries: readonly TranscriptEntry[];
  readonly context: SessionContext;
  /** False for agents whose tokens never come from a transcript: their turns close with the hook. */
  readonly expectsTranscript: boolean;
  /** Set to end an open segment now: it is idle for too long, its process is gone, or the user requested it. */
  readonly endIdle?: typeof ENDED_IDLE | typeof ENDED_BY_USER | typeof ENDED_WITH_PROCESS;
  /** @default PART_LIMITS in session/finished-part.ts */
  readonly partLimits?: PartLimits;
}

export const NOTHING_SETTLED: SessionContext = {
  turns: new Map(),
  subagents: new Map(),
  callIds: new Set(),
  knowsCalls: false,
  calls: [],
};
