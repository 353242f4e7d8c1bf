import type { SessionEndReason } from "./envelope.ts";
import type { Event } from "./event.ts";
import type { TokenUsage, ToolStatus, TranscriptEntry } from "./transcript.ts";

/** One answer of a model. */
export interface ModelCall {
  readonly key: string;
  readonly responseId?: string;
  readonly requestId?: string;
  readonly model?: string;
  /** OpenTelemetry's name of who answered, where the agent talks to several; else it is the session's. */
  readonly provider?: string;
  readonly requestedModel?: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Absent: the agent did not say. */
  readonly usage?: TokenUsage;
  /** False: the agent never wrote down how the answer ended, so its output count is a lower bound. */
  readonly complete: boolean;
  readonly finishReason?: string;
  /** The answer asked for tools: its turn goes on. */
  readonly asksForTools?: true;
  /** Set where the usage is not that of one call but of all calls of a turn or session. */
  readonly covers?: "turn" | "session";
  /** Charged by another list than the one that prices are told by. */
  readonly noListPrice?: true;
  readonly agentId?: string;
}

/** A model call with its price in whole billionths of a US dollar; absent: not known. */
export interface PricedCall {
  readonly call: ModelCall;
  readonly costNanoUsd?: number;
}

/** One use of a tool. */
export interface ToolCall {
  readonly callId: string;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  /** `open`: no end seen yet. */
  readonly status: ToolStatus | "open";
  /** Pure execution time as the agent measured it; start to end also holds waiting for the user. */
  readonly executionMs?: number;
  readonly errorType?: string;
  readonly exitCode?: number;
  readonly executable?: string;
  readonly subcommand?: string;
  readonly mcpServer?: string;
  readonly linesAdded?: number;
  readonly linesRemoved?: number;
  readonly spawnedAgentId?: string;
  /** Of its input, where either side needs it to find the other. */
  readonly inputDigest?: string;
  /** The id that its provider gave it, where other calls can have the same: in place of an input. */
  readonly givenId?: string;
  /** What hooks without the agent's call id told of it: they tell each once, so another start or end is another call's. */
  readonly hooks?: "start" | "end" | "both";
  readonly agentId?: string;
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
  /** Nothing more is expected: what hangs below may leave. */
  readonly closed: boolean;
  /** Ids of the events and keys of the entries it was built from. */
  readonly uses: readonly string[];
}

/** From a user prompt to the agent's last word on it. */
export interface Turn extends Run {
  readonly key: string;
  /**
   * Who asked: a human, the agent's machinery, nobody we saw (`none`: activity without a prompt, it has no span of its
   * own), or a turn that had been closed before (`continuation`).
   */
  readonly origin: "human" | "machine" | "continuation" | "none";
  /** Ordinal of the segment it belongs to. */
  readonly segment: number;
  /** `unfinished`: the session ended, or went on, without the agent's word that the turn had. */
  readonly state: "open" | "ended" | "failed" | "interrupted" | "unfinished";
  readonly errorType?: string;
  readonly promptLength?: number;
  /** A hook told of the prompt, not the transcript alone. */
  readonly promptTold: boolean;
  /** Work left in the background when the turn ended. */
  readonly backgroundCount: number;
}

export interface Subagent extends Run {
  /** The agent's id; with a number behind it for what a closed subagent did later. */
  readonly key: string;
  readonly agentId: string;
  readonly agentType?: string;
  /** The tool call that started it; absent where no record tells. */
  readonly parentCallId?: string;
  /** The turn it belongs to; absent for those started outside any. */
  readonly turnKey?: string;
  readonly segment: number;
}

/** One stretch from a start to an end; a resumed session has several. */
export interface Segment {
  readonly ordinal: number;
  readonly startMs: number;
  /** Absent while it is open. */
  readonly endMs?: number;
  readonly reason?: SessionEndReason;
  readonly nativeReason?: string;
  /** `startup`, `resume`, `fork` …; absent when no start was seen. */
  readonly startOrigin?: string;
  readonly lastActivityMs: number;
  /** Ids of the start and end events it was built from. */
  readonly uses: readonly string[];
}

/** Facts of a session that are the same for all its parts. */
export interface SessionFacts {
  readonly source: string;
  readonly sessionId: string;
  readonly provider?: string;
  /** The agent never tells tokens, or nobody can say that it told them: none seen does not mean none used. */
  readonly usageUnknown?: true;
  /** Nobody tells when a turn of this source ends: the next prompt does, or the session's end. */
  readonly turnEndsUntold?: true;
  /** A session can be complete and its subagents still be at work. */
  readonly endsBeforeSubagents?: true;
  /** Silence is how an ordinary session ends. */
  readonly endsSilently?: true;
  readonly agentVersion?: string;
  readonly repository?: Repository;
}

/** What `.git` says of the folder a session ran in. */
export interface Repository {
  /** Last part of the remote's path, or the folder's name. */
  readonly name: string;
  /** Remote without credentials. */
  readonly url?: string;
  readonly branch?: string;
  readonly revision?: string;
}

/** The agent shortened its context; between two turns as often as inside one. */
export interface Compaction {
  readonly key: string;
  readonly timeMs: number;
  readonly trigger?: string;
}

/** Sums that the agent keeps itself; apart from everything else. */
export type ReportedUsage = Extract<TranscriptEntry, { kind: "reported_usage" }>["byModel"];

/** A session, or the part of one that is not settled yet. */
export interface Session {
  readonly facts: SessionFacts;
  readonly segments: readonly Segment[];
  readonly turns: readonly Turn[];
  readonly subagents: readonly Subagent[];
  readonly compactions: readonly Compaction[];
  readonly reportedUsage?: ReportedUsage;
  /** Events and entries that change nothing any more: told again, or of things long settled. */
  readonly spent: readonly string[];
  /** What the transcript is expected to hold soon: the closing line of a turn, the result of a call. */
  readonly awaiting: number;
}

/** What was settled before, as far as it bears on what comes now. */
export interface SessionContext {
  /** The last segment, open or ended; absent for a new session. */
  readonly segment?: Segment;
  readonly turns: ReadonlyMap<string, SettledTurn>;
  /** Turns that go by another key from now on, by the one they had: see `withLatePrompts`. */
  readonly renamed?: ReadonlyMap<string, string>;
  readonly subagents: ReadonlyMap<string, SettledSubagent>;
  /** The settled calls that started subagents of which nothing was settled, by the subagents' ids. */
  readonly spawnedBy?: ReadonlyMap<string, string>;
  /** Tokens of this session were told call by call: sums over all of them add nothing. */
  readonly knowsCalls: boolean;
  /** Tool calls that were settled: what is told of them again changes nothing. */
  readonly callIds: ReadonlySet<string>;
  /** Those that their transcript named when they were settled under ids made here: nothing goes by these. */
  readonly unusedIds?: ReadonlySet<string>;
  /** Those of them that facts without the agent's call id could be about. */
  readonly calls: readonly SettledCall[];
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
  /** How many parts of this turn were settled; the next one is its continuation of that number. */
  readonly parts: number;
  readonly promptLength?: number;
  /** A hook told of its prompt. */
  readonly hookSeen: boolean;
  /** Nothing else did, and the agent gives prompts no ids: its key is the hook's event. */
  readonly hookAlone?: true;
  /** It was settled under another key, and so was its span; those of its further parts have this one. */
  readonly renamed?: true;
}

export interface SettledSubagent {
  readonly segment: number;
  readonly turnKey?: string;
  readonly parentCallId?: string;
  readonly agentType?: string;
  readonly parts: number;
}

/** How a session ends whose end nobody told: it went silent. Of an agent that ends silently its last turn has the reason. */
export const ENDED_IDLE = { reason: "timeout", nativeReason: "idle" } as const;

/** The same where the user asked for it. */
export const ENDED_BY_USER = { reason: "timeout", nativeReason: "ended_by_user" } as const;

/** Whether a segment was ended by us: its agent may be at work all the same. */
export const isEndedByUs = ({ nativeReason }: Segment): boolean =>
  nativeReason === ENDED_IDLE.nativeReason || nativeReason === ENDED_BY_USER.nativeReason;

/** Everything `buildSession` looks at. */
export interface SessionInput {
  readonly facts: SessionFacts;
  readonly events: readonly Event[];
  readonly entries: readonly TranscriptEntry[];
  readonly context: SessionContext;
  /** False for agents whose tokens never come from a transcript: their turns end with the hook's word. */
  readonly expectsTranscript: boolean;
  /** Set to end an open segment now: idle for too long, or the user asked. */
  readonly endIdle?: typeof ENDED_IDLE | typeof ENDED_BY_USER;
}

export const NOTHING_SETTLED: SessionContext = {
  turns: new Map(),
  subagents: new Map(),
  callIds: new Set(),
  knowsCalls: false,
  calls: [],
};
