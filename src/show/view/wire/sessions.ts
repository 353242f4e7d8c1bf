import type { Choices, Sums } from "./figures.ts";

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
  /** From start to end, without pauses between its segments. */
  readonly openMs: number;
  /** The part of it in which a turn or subagent ran. */
  readonly workMs: number;
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

export interface SessionList {
  readonly kind: "sessions";
  readonly rows: readonly SessionRow[];
  /** Number of sessions that match the filters, also beyond the limit. */
  readonly matchCount: number;
  /** Number of sessions without filters. */
  readonly totalCount: number;
  readonly choices: Choices;
}
