import type { ConfiguredAt } from "#core/model/configured.ts";
import type { CallSums } from "#core/model/model-call.ts";
import type { Evidence } from "../cache-misses.ts";
import type { Comparison } from "../compare/compare.ts";
import type { UsageRow } from "../usage-rows.ts";
import type { ReadSession } from "./read-sessions.ts";
import type { Tally } from "./tally.ts";

/** What the rules look at: one period. */
export interface Material {
  /** Those that were read one by one, the dearest first. */
  readonly sessions: readonly ReadSession[];
  /** Over all sessions, read or not. */
  readonly total: CallSums;
  /** By agent and tool, and by agent and model, over all sessions. */
  readonly tools: readonly UsageRow[];
  readonly models: readonly UsageRow[];
  /** By agent and MCP server, over all sessions. */
  readonly mcp: readonly UsageRow[];
  /** MCP servers in the settings of agents. */
  readonly servers: readonly ConfiguredAt[];
  /** Of each agent that was updated: its newest version with enough sessions, against the one before. */
  readonly updates: readonly Comparison[];
  /** The reverted commit that the work of a session at a time led to. `undefined`: it led to none, or that is unknown. */
  readonly revertedAt: (session: number, timeMs: number) => string | undefined;
  /** An agent's name for people. */
  readonly titleOf: (agent: string) => string;
}

/** Something that costs money in many sessions, with how it is known and what to change. */
export interface Insight {
  /** The rule that found it. */
  readonly rule: string;
  /** What it is about, e.g. `expired`. The same in every period; together with the rule it is unique. */
  readonly subject: string;
  readonly evidence: Exclude<Evidence, "unknown">;
  /** `additional`: what was paid beyond the alternative. `spent`: what all calls cost that it is about. */
  readonly measure: "additional" | "spent";
  /** A sentence with its figures. */
  readonly text: string;
  readonly advice: string;
  readonly tally: Tally;
}

/**
 * Finds what is true of a period, large or small: which of it is worth a line is decided for all rules alike, after a comparison with the
 * period before.
 */
export type Rule = (material: Material) => readonly Omit<Insight, "rule">[];
