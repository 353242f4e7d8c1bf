import type { TokenUsage } from "./transcript.ts";

/** The token counts of a usage, in the order of the columns of the fact tables. */
export const TOKEN_KINDS = [
  "input",
  "output",
  "cacheRead",
  "cacheWrite",
  "cacheWrite5m",
  "cacheWrite1h",
  "reasoning",
] as const satisfies readonly (keyof TokenUsage)[];
