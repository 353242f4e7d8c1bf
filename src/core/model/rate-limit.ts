/** The windows in which providers limit usage, and their names on a screen. */
export const RATE_WINDOWS = { five_hour: "5h", seven_day: "7d" } as const;
export type RateWindow = keyof typeof RATE_WINDOWS;

/** How long these windows are. */
export const WINDOW_MS = { five_hour: 5 * 3_600_000, seven_day: 7 * 86_400_000 } as const satisfies Record<
  RateWindow,
  number
>;

/**
 * Agents that run on a subscription, by id, and since when that is known, in milliseconds. Their costs are list prices, not what the user
 * pays. An agent that is not in it may have one too.
 */
export type Subscriptions = ReadonlyMap<string, number>;

/** How much of a limit an agent last reported as used. After the reset, it is unknown. */
export interface RateLimit {
  readonly window: RateWindow;
  readonly percent: number;
  readonly resetsAtMs: number;
  /** Absent: unknown. */
  readonly reportedMs?: number;
}

/** A rate limit, and the agent that reported it. */
export interface AgentLimit extends RateLimit {
  readonly agent: string;
}
