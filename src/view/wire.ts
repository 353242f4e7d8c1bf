/**
 * The JSON that the server sends to the page of the same build. Unknown is `null`, never 0; times are milliseconds since the epoch, money is
 * in 10⁻⁹ USD. Strings come from agents unchanged, so the page must never treat them as markup.
 */

/** Header of a response: ask again, the next one has titles that are missing in this one. */
export const HAS_MORE = "openhook-more-titles";

/** Tokens and cost. A lower bound lacks the usage of some calls. */
export interface Sums {
  readonly modelCalls: number | null;
  readonly input: number | null;
  readonly output: number | null;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  readonly reasoning: number | null;
  readonly costNanoUsd: number | null;
  readonly inputIsLowerBound: boolean;
  readonly outputIsLowerBound: boolean;
  readonly costIsLowerBound: boolean;
  /** Calls without a known price. */
  readonly unpriced: number;
}

/** One session in the list. */
export interface SessionRow {
  readonly source: string;
  readonly sessionId: string;
  /** The agent's name. */
  readonly agent: string;
  /** Known: the agent ran on a subscription, so the cost is not what the user pays. */
  readonly onSubscription: boolean;
  readonly agentVersion: string | null;
  readonly repository: string | null;
  readonly branch: string | null;
  /** Path of the working directory. */
  readonly folder: string | null;
  readonly startMs: number;
  readonly lastMs: number;
  /** Without pauses between its segments. */
  readonly activeMs: number;
  /** How it ended, for people; `unreported`: there is no record of its end. */
  readonly end: { readonly state: "open" | "ended" | "failed" | "unreported"; readonly text: string };
  /** Changed files and the tools it used most; empty: unknown. */
  readonly title: string;
  /** First line of the first prompt. Read from the agent's own file for this response, so an exported page has none. */
  readonly prompt: string | null;
  readonly turns: number;
  readonly subagents: number;
  readonly toolCalls: number;
  readonly failedTools: number;
  readonly deniedTools: number;
  /** Tool calls without an end. */
  readonly unfinishedTools: number;
  /** The most used first. */
  readonly models: readonly string[];
  readonly sums: Sums;
}

export const SORTS = ["recent", "started", "tokens", "cost", "errors"] as const;
export type Sort = (typeof SORTS)[number];

/** The choices of the filters. */
export interface Choices {
  readonly agents: readonly { readonly source: string; readonly agent: string }[];
  readonly repositories: readonly string[];
  readonly models: readonly string[];
}

export interface SessionList {
  readonly kind: "sessions";
  readonly rows: readonly SessionRow[];
  /** Number of sessions that match the filters, also beyond the limit. */
  readonly matchCount: number;
  /** Number of sessions without filters. */
  readonly totalCount: number;
  readonly choices: Choices;
}

/** Figures of a period and of the one before; `null`: nothing happened, or there is no period before. */
export interface Compared {
  readonly figures: UsageFigures | null;
  readonly before: UsageFigures | null;
}

/** One agent, model or repository. */
export interface HomeGroup {
  /** `null`: unknown. */
  readonly name: string | null;
  /** The value of its filter. */
  readonly key: string | null;
  readonly figures: UsageFigures;
}

/** An open session with recent activity. */
export interface RunningSession {
  readonly row: SessionRow;
  /** `null`: the agent waits for the user. */
  readonly turnStartMs: number | null;
  /** Tool calls that run now. */
  readonly tools: readonly { readonly name: string; readonly startMs: number }[];
}

export interface HomeDocument {
  readonly kind: "home";
  readonly nowMs: number;
  readonly sinceMs: number;
  readonly unit: Unit;
  /** Names of all buckets in order, also of empty ones. */
  readonly buckets: readonly string[];
  /** One per bucket; `null`: no cost is known. */
  readonly costNanoUsd: readonly (number | null)[];
  readonly today: Compared;
  /** The chosen period. */
  readonly period: Compared;
  readonly repositories: readonly HomeGroup[];
  readonly agents: readonly HomeGroup[];
  readonly models: readonly HomeGroup[];
  readonly tools: readonly ToolRow[];
  readonly running: readonly RunningSession[];
  /** The sessions with the latest activity. */
  readonly recent: readonly SessionRow[];
  /** All sessions in the store. */
  readonly sessionCount: number;
  /** Names of the agents with costs that are known to run on a subscription. */
  readonly subscribed: readonly string[];
}

/** There is no store yet, which is not an error. */
export interface NoStore {
  readonly kind: "no-store";
  /** How to fill it. */
  readonly hint: string;
}

/** A failed request. */
export interface ApiError {
  readonly kind: "error";
  readonly code: string;
  /** The problem and its remedy. */
  readonly message: string;
}

export const SPAN_KINDS = ["session", "turn", "subagent", "model_call", "tool_call", "other"] as const;
export type SpanKind = (typeof SPAN_KINDS)[number];

/** Characters of a span's id. */
export const SPAN_ID_LENGTH = 16;

/** Bits of `flags`. */
export const FLAG = {
  error: 1,
  denied: 2,
  unfinished: 4,
  open: 8,
  /** A model was called, but its tokens are unknown. */
  unknownTokens: 16,
  unknownCost: 32,
  outputIsLowerBound: 64,
  costIsLowerBound: 128,
} as const;

/**
 * A session's spans in columns, in tree order: children after their parent. All columns have `count` entries.
 */
export interface SpanColumns {
  readonly count: number;
  /** `startMs` is relative to it. */
  readonly baseMs: number;
  /** Span ids, concatenated. */
  readonly ids: string;
  /** Each string once; `label` and `detail` are indexes into it. */
  readonly strings: readonly string[];
  readonly label: readonly number[];
  readonly detail: readonly number[];
  /** Index into `SPAN_KINDS`. */
  readonly kind: readonly number[];
  /** 0 for roots. */
  readonly depth: readonly number[];
  readonly startMs: readonly number[];
  readonly durationMs: readonly number[];
  readonly flags: readonly number[];
  readonly input: readonly (number | null)[];
  readonly output: readonly (number | null)[];
  readonly costNanoUsd: readonly (number | null)[];
}

export interface SegmentRow {
  readonly startMs: number;
  readonly endMs: number | null;
  readonly startOrigin: string | null;
  readonly endReason: string | null;
}

export interface SessionDocument {
  readonly kind: "session";
  readonly row: SessionRow;
  readonly segments: readonly SegmentRow[];
  /** Sums reported by the agent, which include side requests; `null` if they equal ours or if there are none. */
  readonly reported: {
    readonly input: number | null;
    readonly output: number | null;
    readonly costNanoUsd: number | null;
  } | null;
  readonly spans: SpanColumns;
  /** Address of its trace in the user's backend; `null`: none is configured. */
  readonly traceUrl: string | null;
}

/** What the time of a session was spent on; see `TimePart` of the report. */
export const PARTS = ["model", "tool", "held", "agent", "user", "away"] as const;
export type Part = (typeof PARTS)[number];

/** Where the time and money of a session went. */
export interface ExplanationDocument {
  readonly kind: "explanation";
  /** Sentences, the most important first. */
  readonly findings: readonly string[];
  /** They add up to the time from start to end. */
  readonly parts: readonly { readonly name: Part; readonly ms: number }[];
  /** False: the agent does not report when the model ran, so `agent` includes it. */
  readonly isModelTimed: boolean;
  readonly expensiveTurn: { readonly turn: number; readonly costNanoUsd: number } | null;
  readonly slowestTool: { readonly name: string; readonly startMs: number; readonly ms: number } | null;
  /** Tools that were called with the same input again. */
  readonly repeats: readonly { readonly name: string; readonly calls: number; readonly totalMs: number }[];
  /** What the figures do not contain, as sentences. */
  readonly unknown: readonly string[];
  /** Changes and commits that the session led to. */
  readonly changes: readonly SessionChange[];
}

/** The spans whose attributes match each term of a search: their ids, concatenated. */
export interface SearchDocument {
  readonly kind: "search";
  readonly terms: readonly { readonly term: string; readonly ids: string }[];
}

/** One span in full, as it was or will be sent. */
export interface SpanDocument {
  readonly kind: "span";
  readonly open: boolean;
  readonly name: string;
  readonly traceId: string;
  /** Address of its trace in the user's backend; `null`: none is configured. */
  readonly traceUrl: string | null;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly startMs: number;
  readonly endMs: number;
  readonly error: boolean;
  readonly attributes: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  readonly events: readonly {
    readonly name: string;
    readonly timeMs: number;
    readonly attributes: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  }[];
  readonly links: readonly {
    readonly traceId: string;
    readonly spanId: string;
    readonly attributes: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  }[];
}

export const UNITS = ["hour", "day", "week", "month"] as const;
export type Unit = (typeof UNITS)[number];
export const SPLITS = ["agent", "model", "repository"] as const;
export type Split = (typeof SPLITS)[number];

/** Figures of a time bucket, or of one agent, model or repository. */
export interface UsageFigures {
  readonly sessions: number;
  /** `null` if filtered by model, because turns and tools have none. */
  readonly turns: number | null;
  readonly toolCalls: number | null;
  readonly failedTools: number | null;
  readonly sums: Sums;
  /** Input of the calls that report cache reads; the cache share refers to it. */
  readonly cacheReportedInput: number | null;
  readonly cacheReportedRead: number | null;
  /** Sums over calls, parallel ones too. `null`: the agents do not report how long their calls took, or it does not apply. */
  readonly modelMs: number | null;
  readonly toolMs: number | null;
  /** Sessions without reported usage. */
  readonly sessionsWithoutUsage: number;
}

export interface UsageDocument {
  readonly kind: "usage";
  readonly unit: Unit;
  readonly split: Split;
  readonly sinceMs: number;
  /** Names of all buckets in order, also of empty ones: `2026-11-21T07:00+01:00`, `2026-11-21`, `2026-W47`, `2026-11`. */
  readonly buckets: readonly string[];
  /** `null`: an empty bucket. */
  readonly bucketFigures: readonly (UsageFigures | null)[];
  readonly total: UsageFigures | null;
  readonly groups: readonly UsageGroup[];
  readonly choices: Choices;
}

export interface UsageGroup {
  /** `null`: unknown. */
  readonly name: string | null;
  readonly figures: UsageFigures;
  /** One value per bucket; 0 if there was no usage or none was reported. */
  readonly costNanoUsd: readonly number[];
  readonly tokens: readonly number[];
}

export interface ToolRow {
  readonly agent: string;
  readonly tool: string;
  /** Its MCP server; `null`: a built-in tool. */
  readonly server: string | null;
  readonly sessions: number;
  readonly calls: number;
  readonly errors: number;
  readonly denied: number;
  readonly unfinished: number;
  readonly open: number;
  /** Includes waiting for the user. */
  readonly toolMs: number;
}

export interface ToolsDocument {
  readonly kind: "tools";
  readonly sinceMs: number;
  readonly rows: readonly ToolRow[];
  readonly choices: Choices;
}

/** `inferred`: somebody did it in the session's folder, perhaps not the agent. What is unknown has no row. */
export type Certainty = "observed" | "inferred";

/** What a session led to. */
export interface SessionChange {
  readonly by: "change" | "commit";
  readonly key: string;
  readonly certainty: Certainty;
  /** `null`: unknown. */
  readonly costNanoUsd: number | null;
}

/** The data of an exported page: one session in full. */
export interface ExportedPage {
  readonly kind: "export";
  readonly exportedMs: number;
  /** The capture level: how much the file contains. */
  readonly level: string;
  readonly session: SessionDocument;
  readonly explanation: ExplanationDocument;
  /** Attributes of every span. */
  readonly resource: SpanDocument["attributes"];
  /** In any order, without `resource`. */
  readonly spans: readonly SpanDocument[];
}

/** Body of every JSON response. */
export type ApiResponse<T> = T | NoStore | ApiError;
