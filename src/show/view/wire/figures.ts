/** Tokens and cost. A lower bound lacks the usage of some calls. */
export interface Sums {
  readonly modelCalls: number | null;
  readonly modelCallsIsLowerBound: boolean;
  readonly input: number | null;
  readonly output: number | null;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  readonly reasoning: number | null;
  readonly costNanoUsd: number | null;
  readonly inputIsLowerBound: boolean;
  readonly outputIsLowerBound: boolean;
  readonly costIsLowerBound: boolean;
  /** Calls whose tokens were reported and whose cost is unknown or a lower bound, as in reports. */
  readonly unpriced: number;
}

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

/** The choices of the filters. */
export interface Choices {
  readonly agents: readonly { readonly source: string; readonly agent: string }[];
  readonly repositories: readonly string[];
  readonly models: readonly string[];
}
