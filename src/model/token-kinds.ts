import type { TokenUsage } from "./transcript.ts";

/** What a token usage tells, in the order of a call's columns in the tables of facts. */
export const TOKEN_KINDS = [
  "input",
  "output",
  "cacheRead",
  "cacheWrite",
  "cacheWrite5m",
  "cacheWrite1h",
  "reasoning",
] as const satisfies readonly (keyof TokenUsage)[];
