import type { TokenUsage } from "#core/model/transcript.ts";
import { isWholeUsage } from "#core/rules/calls.ts";
import { sumOfAll } from "#kit/numbers.ts";
import { defined } from "#kit/objects.ts";
import { asCount, asObject } from "../shared/payload/json.ts";

/**
 * Reads usage as Codex writes it: `input_tokens` includes the cache, `output_tokens` includes reasoning.
 *
 * @returns `undefined` if there are no counts
 */
export function usageOf(value: unknown): TokenUsage | undefined {
  const usage = asObject(value);
  if (usage === undefined) return undefined;
  const input = asCount(usage["input_tokens"]);
  const output = asCount(usage["output_tokens"]);
  const cacheRead = asCount(usage["cached_input_tokens"]);
  const cacheWrite = asCount(usage["cache_write_input_tokens"]);
  const reasoning = asCount(usage["reasoning_output_tokens"]);
  if ((input ?? output ?? cacheRead ?? cacheWrite ?? reasoning) === undefined) return undefined;
  // Assigned one by one: `defined` takes six times as long, and every third line of a rollout has several of these objects
  const counts: { -readonly [K in keyof TokenUsage]: TokenUsage[K] } = {};
  if (input !== undefined) counts.input = input;
  if (output !== undefined) counts.output = output;
  if (cacheRead !== undefined) counts.cacheRead = cacheRead;
  if (cacheWrite !== undefined) counts.cacheWrite = cacheWrite;
  if (reasoning !== undefined) counts.reasoning = reasoning;
  return counts;
}

/** Usage with its input and its output. */
export type WholeUsage = TokenUsage & { readonly input: number; readonly output: number };

/** Usage between two totals; `undefined` when the later one is smaller. */
export function difference(now: WholeUsage, before: WholeUsage): WholeUsage | undefined {
  const input = now.input - before.input;
  const output = now.output - before.output;
  if (input < 0 || output < 0) return undefined;
  const part = (name: "cacheRead" | "cacheWrite" | "reasoning"): number | undefined => {
    const [total, earlier] = [now[name], before[name]];
    // The growth of a part is unknown if the part was not reported before or became smaller
    return total === undefined || earlier === undefined || total < earlier ? undefined : total - earlier;
  };
  return defined<WholeUsage>({
    input,
    output,
    cacheRead: part("cacheRead"),
    cacheWrite: part("cacheWrite"),
    reasoning: part("reasoning"),
  });
}

/** Equal input and output, as far as both are known: their parts are not always reported. */
export function isSameUsage(a: TokenUsage | undefined, b: TokenUsage | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  const knowsInput = a.input !== undefined && b.input !== undefined;
  const knowsOutput = a.output !== undefined && b.output !== undefined;
  if (!knowsInput && !knowsOutput) return false;
  return (!knowsInput || a.input === b.input) && (!knowsOutput || a.output === b.output);
}

/**
 * A total and the last call's figures, each completed by the other one: a total is the one before plus the last call.
 *
 * @param before the total before, if there is one
 * @returns no `total` if input or output cannot be known
 */
export function completed(
  total: TokenUsage | undefined,
  last: TokenUsage | undefined,
  before: WholeUsage | undefined,
): { readonly total: WholeUsage | undefined; readonly last: WholeUsage | undefined } {
  if (total === undefined) return { total, last: undefined };
  // Totals are written several times
  const isRepeated = isSameUsage(total, before);
  const after = (kind: "input" | "output"): number | undefined =>
    isRepeated ? before?.[kind] : sumOfAll(before === undefined ? 0 : before[kind], last?.[kind]);
  const { input = after("input"), output = after("output") } = total;
  if (input === undefined || output === undefined) return { total: undefined, last: undefined };
  const whole: WholeUsage = { ...total, input, output };
  if (last === undefined || isWholeUsage(last)) return { total: whole, last };
  const grown = before === undefined ? whole : difference(whole, before);
  return { total: whole, last: grown !== undefined && isSameUsage(grown, last) ? grown : undefined };
}
