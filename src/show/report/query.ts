export interface UsageQuery {
  /** In the order of the rows' keys; none: one row for everything. See `whyNotCombined`. */
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
  /** Only work of subagents, in all groupings; required for `subagent` in one of them. @default false */
  readonly ofSubagents?: boolean;
  /** Also the model calls that read results of MCP servers and skills. @default false */
  readonly hasAfter?: boolean;
  /** Rows have no calls that a flat plan covers, see `planOf`. @default false */
  readonly paidOnly?: boolean;
  /** IANA name. @default the machine's */
  readonly timeZone?: string;
  /** The user's home folder: folders of configuration below it are named with `~`. */
  readonly home?: string | undefined;
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

/** The dimensions that only tool calls have. */
export const TOOL_DIMENSIONS = ["tool", "mcp", "skill"] as const;

/** What figures can be grouped by. This file imports nothing, because every start of the program loads it for the help. */
export const DIMENSIONS = [
  ...TIME_UNITS,
  "agent",
  "model",
  "repository",
  "config-folder",
  ...TOOL_DIMENSIONS,
  "subagent",
  "session",
  ...CHANGE_DIMENSIONS,
] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** Whether rows are about tool calls only. */
export const isOfTools = ({ by }: Pick<UsageQuery, "by">): boolean => by.some(isToolDimension);

/** A sentence that says why dimensions and filters cannot be combined; `undefined`: they can. */
export function whyNotCombined({ by, model }: Pick<UsageQuery, "by" | "model">): string | undefined {
  const ofTools = by.find(isToolDimension);
  if (ofTools === undefined) return undefined;
  if (by.includes("model") || model !== undefined) {
    return `model and ${ofTools} cannot be combined, because agents do not report which model made a tool call`;
  }
  return by.includes("subagent")
    ? `subagent and ${ofTools} cannot be combined: a report by subagent is about their runs and model calls`
    : undefined;
}

// --- internal ---

const isToolDimension = (dimension: Dimension): boolean => TOOL_DIMENSIONS.some((known) => known === dimension);
