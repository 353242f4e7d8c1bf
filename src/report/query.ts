import { TIME_UNITS } from "./buckets.ts";

/** What figures can be told apart by. */
export const DIMENSIONS = [...TIME_UNITS, "agent", "model", "repository", "tool", "session"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

export interface UsageQuery {
  /** In the order of the rows' keys; none: one row for everything. Not both `model` and `tool`. */
  readonly by: readonly Dimension[];
  /** Times are taken to the quarter of an hour that they lie in, since imported history is kept in these. */
  readonly sinceMs?: number;
  readonly untilMs?: number;
  /** An agent's id, e.g. `claude-code`. */
  readonly agent?: string;
  /** A model's name as the agent told it. Turns and tools are of no model, and then left out. */
  readonly model?: string;
  /** A repository's name, or the end of its address: `acme/api`. */
  readonly repository?: string;
  /** A session's number in the store, its subagents' sessions with it. */
  readonly session?: number;
  /** IANA name. @default the machine's */
  readonly timeZone?: string;
}
