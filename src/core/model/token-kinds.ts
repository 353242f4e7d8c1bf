import type { TokenUsage } from "./transcript.ts";

/**
 * The token counts of a usage, in the order of the columns of the fact tables, and what each is called in the store, in JSON
 * and in `openhook.token.type`.
 */
export const TOKEN_NAMES = {
  input: "input",
  output: "output",
  cacheRead: "cache_read",
  cacheWrite: "cache_write",
  cacheWrite5m: "cache_write_5m",
  cacheWrite1h: "cache_write_1h",
  reasoning: "reasoning",
} as const satisfies Readonly<Record<keyof TokenUsage, string>>;
export type TokenKind = keyof typeof TOKEN_NAMES;
export type TokenName = (typeof TOKEN_NAMES)[TokenKind];

export const TOKEN_KINDS = Object.keys(TOKEN_NAMES) as readonly TokenKind[];
