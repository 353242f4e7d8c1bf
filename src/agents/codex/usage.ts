import { defined } from "../../model/defined.ts";
import type { TokenUsage } from "../../model/transcript.ts";
import { asCount, asObject } from "../shared/payload/json.ts";

/**
 * Reads usage as Codex writes it: `input_tokens` includes the cache, `output_tokens` includes reasoning.
 *
 * @returns `undefined` without input or output
 */
export function usageOf(value: unknown): TokenUsage | undefined {
  const usage = asObject(value);
  const input = asCount(usage?.["input_tokens"]);
  const output = asCount(usage?.["output_tokens"]);
  if (usage === undefined || input === undefined || output === undefined) return undefined;
  return defined<TokenUsage>({
    input,
    output,
    cacheRead: asCount(usage["cached_input_tokens"]),
    cacheWrite: asCount(usage["cache_write_input_tokens"]),
    cacheWrite5m: undefined,
    cacheWrite1h: undefined,
    reasoning: asCount(usage["reasoning_output_tokens"]),
  });
}

/** Usage between two totals; `undefined` when the later one is smaller. */
export function difference(now: TokenUsage, before: TokenUsage): TokenUsage | undefined {
  const input = now.input - before.input;
  const output = now.output - before.output;
  if (input < 0 || output < 0) return undefined;
  const part = (name: "cacheRead" | "cacheWrite" | "reasoning"): number | undefined => {
    const total = now[name];
    return total === undefined ? undefined : Math.max(0, total - (before[name] ?? 0));
  };
  return defined<TokenUsage>({
    input,
    output,
    cacheRead: part("cacheRead"),
    cacheWrite: part("cacheWrite"),
    cacheWrite5m: undefined,
    cacheWrite1h: undefined,
    reasoning: part("reasoning"),
  });
}

/** Whether input and output are equal. Their parts are not compared: they are not always reported. */
export const isSameUsage = (a: TokenUsage | undefined, b: TokenUsage | undefined): boolean =>
  a !== undefined && a.input === b?.input && a.output === b.output;
