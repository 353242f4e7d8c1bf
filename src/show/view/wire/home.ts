import type { TimeUnit } from "../../report/dimensions.ts";
import type { UsageFigures } from "./figures.ts";
import type { SessionRow } from "./sessions.ts";
import type { ToolRow } from "./tools.ts";

export interface HomeDocument {
  readonly kind: "home";
  readonly nowMs: number;
  readonly sinceMs: number;
  readonly unit: TimeUnit;
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
  /** Why calls of the period have no exact price and what to do, in sentences. */
  readonly noPrice: readonly string[];
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
