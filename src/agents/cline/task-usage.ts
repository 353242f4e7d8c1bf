// The providers in github.com/cline/cline, apps/vscode/src/core/api/providers, August 2026, read 2026-11-26; README.md has the rule

import type { TokenUsage } from "#core/model/transcript.ts";
import { defined } from "#kit/objects.ts";
import { asCount, ownOf } from "../shared/payload/json.ts";

/** Figures of a request, or of several, as the extension records them. */
export type Figures = Readonly<Record<string, unknown>>;

/**
 * The token usage in a record of the extension. It starts every count at 0: a count of 0 is unknown. The input is also unknown if
 * nothing shows whether `tokensIn` includes the cache.
 *
 * @param providers the extension's ids of all providers that the record can be about
 * @returns `undefined` if nothing is known
 */
export function usageOf(figures: Figures, providers: readonly string[]): TokenUsage | undefined {
  const [tokensIn = 0, output = 0] = [asCount(figures["tokensIn"]), asCount(figures["tokensOut"])];
  const reads = asCount(figures["cacheReads"]) ?? 0;
  const writes = asCount(figures["cacheWrites"]) ?? 0;
  const input = inputOf(tokensIn, reads, writes, providers);
  const areWrites = providers.length > 0 && providers.every((provider) => ownOf(CACHE, provider) === "excluded");
  const usage = defined<TokenUsage>({
    input: input || undefined,
    output: output || undefined,
    cacheRead: reads || undefined,
    cacheWrite: areWrites ? writes || undefined : undefined,
  });
  return Object.keys(usage).length === 0 ? undefined : usage;
}

/** Whether the provider reports reasoning apart from the output, and the extension drops it: the output is a lower bound. */
export const dropsReasoning = (provider: string | undefined, model: string | undefined): boolean =>
  provider === "gemini" || (provider === "vertex" && model?.startsWith("gemini") === true);

// --- internal ---

function inputOf(tokensIn: number, reads: number, writes: number, providers: readonly string[]): number | undefined {
  if (reads + writes === 0) return tokensIn;
  const rules = new Set(providers.map((provider) => ownOf(CACHE, provider)));
  const [rule] = rules;
  // Several providers with different rules: a sum over their calls has no rule
  const isIncluded = rules.size === 1 && rule === "included";
  if (rules.size > 0 && !isIncluded && [...rules].every((one) => one === "excluded" || one === "misses"))
    return tokensIn + reads + writes;
  return isIncluded && reads <= tokensIn ? tokensIn : undefined;
}

/**
 * How `tokensIn` and the cache's counts relate. `excluded`: it is what was neither read from the cache nor written to it.
 * `misses`: the same, but `cacheWrites` is what was not in the cache. `included`: it is the whole input.
 */
const CACHE: Readonly<Record<string, "excluded" | "misses" | "included">> = {
  anthropic: "excluded",
  bedrock: "excluded",
  "claude-code": "excluded",
  cline: "excluded",
  gemini: "excluded",
  minimax: "excluded",
  moonshot: "excluded",
  "openai-native": "excluded",
  openrouter: "excluded",
  "vercel-ai-gateway": "excluded",
  vertex: "excluded",
  deepseek: "misses",
  litellm: "misses",
  doubao: "included",
  fireworks: "included",
  hicap: "included",
  openai: "included",
  "openai-codex": "included",
  qwen: "included",
  requesty: "included",
  xai: "included",
  zai: "included",
};
