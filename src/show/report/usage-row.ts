import type { Certainty } from "#core/model/changes.ts";
import type { Dimension } from "./dimensions.ts";
import type { CallFigures } from "./usage-facts.ts";

/** The figures of one group. Parts that do not apply are absent: a tool has no tokens, a model no turns. */
export interface UsageRow {
  /** One value per dimension of the query; `null`: unknown. Sessions as `<source>/<id>`. */
  readonly key: Readonly<Partial<Record<Dimension, string | null>>>;
  /** Sessions with any of these figures; a subagent's session counts as its root. */
  readonly sessions: number;
  /** By the time they ended. Tokens and cost are absent where they were not reported. */
  readonly calls?: CallFigures;
  /** Turns with a prompt, by the time they started. */
  readonly turns?: TurnSums;
  /** By the time they started. */
  readonly tools?: ToolSums;
  /** Agents of sessions whose usage is unknown: the agent never reports tokens, or the transcript was never read. */
  readonly agentsWithoutUsage: readonly string[];
  readonly sessionsWithoutUsage: number;
  /** Of rows by commit, change, branch or ticket, and of what led to one of these: the lowest of what they contain. Absent for rows of none of these. */
  readonly certainty?: Certainty;
}

interface TurnSums {
  readonly turns: number;
  /** Those of `turns` whose prompt a human sent. */
  readonly prompts: number;
  readonly failed: number;
  readonly interrupted: number;
}

export interface ToolSums {
  readonly calls: number;
  readonly errors: number;
  readonly denied: number;
  readonly unfinished: number;
  /** Still running. */
  readonly open: number;
  /** From start to end, including waits for the user; parallel calls each count. */
  readonly toolMs: number;
}
