export interface UsageQuery {
  /** In the order of the rows' keys; none: one row for everything. Not both `model` and `tool`. */
  readonly by: readonly Dimension[];
  /** Rounded outwards to quarter hours, because imported history is stored in these. */
  readonly sinceMs?: number;
  readonly untilMs?: number;
  /** An agent's id, e.g. `claude-code`. */
  readonly agent?: string;
  /** A model name as reported by the agent. Excludes turns and tools, which have no model. */
  readonly model?: string;
  /** The name of a repository, or the end of its address: `acme/api`. */
  readonly repository?: string;
  /** The number of a session in the store; includes its subagents' sessions. */
  readonly session?: number;
  /** Only what led to certain commits or changes. */
  readonly ledTo?: LedTo;
  /** Rows have calls with their number and cost, without tokens, tools and turns: half as much to read. */
  readonly costOnly?: boolean;
  /** IANA name. @default the machine's */
  readonly timeZone?: string;
}

/** Commits, pull requests, tickets or branches, by `identityOf`. */
export interface LedTo {
  readonly dimension: ChangeDimension;
  readonly identities: ReadonlySet<string>;
}

export const TIME_UNITS = ["hour", "day", "week", "month"] as const;
export type TimeUnit = (typeof TIME_UNITS)[number];

/** The dimensions that come from commits and changes. */
export const CHANGE_DIMENSIONS = ["commit", "change", "branch", "ticket"] as const;
export type ChangeDimension = (typeof CHANGE_DIMENSIONS)[number];

/** What figures can be grouped by. This file imports nothing, because every start of the program loads it for the help. */
export const DIMENSIONS = [
  ...TIME_UNITS,
  "agent",
  "model",
  "repository",
  "tool",
  "session",
  ...CHANGE_DIMENSIONS,
] as const;
export type Dimension = (typeof DIMENSIONS)[number];
