import { defined } from "../../model/defined.ts";
import type { EntryOf, TokenUsage } from "../../model/transcript.ts";
import { asCount, asObject, asTimeMs } from "../shared/json.ts";

/**
 * Tokens of a call, or of a model's sum. Copilot's input includes what was read from and written to a cache, whatever the
 * provider; its output includes reasoning.
 *
 * @returns nothing where neither input nor output is told
 */
export function usageOf(usage: Readonly<Record<string, unknown>> | undefined): TokenUsage | undefined {
  const input = asCount(usage?.["inputTokens"]);
  const output = asCount(usage?.["outputTokens"]);
  if (usage === undefined || (input === undefined && output === undefined)) return undefined;
  return defined<TokenUsage>({
    input: input ?? 0,
    output: output ?? 0,
    cacheRead: asCount(usage["cacheReadTokens"]),
    cacheWrite: asCount(usage["cacheWriteTokens"]),
    cacheWrite5m: undefined,
    cacheWrite1h: undefined,
    reasoning: asCount(usage["reasoningTokens"]),
  });
}

type Sums = EntryOf<"reported_usage">["byModel"];

/** The sums of a shutdown or checkpoint line, per model; `undefined` where it has none. */
export function reportedSums(data: Readonly<Record<string, unknown>>): Sums | undefined {
  const metrics = asObject(data["modelMetrics"]) ?? asObject(asObject(data["accountingSnapshot"])?.["modelMetrics"]);
  const byModel = Object.entries(metrics ?? {}).flatMap(([model, value]) => {
    const usage = usageOf(asObject(asObject(value)?.["usage"]));
    return usage === undefined || model === "" ? [] : [[model, usage] as const];
  });
  return byModel.length === 0 ? undefined : Object.fromEntries(byModel);
}

/**
 * Sums in the place of the calls that a file does not tell one by one. Later sums of the same count replace earlier ones;
 * a count that began anew, by its start, is another one.
 */
export function sessionSums(
  data: Readonly<Record<string, unknown>>,
  sums: Sums,
  at: Pick<EntryOf<"model_call">, "timeMs" | "promptKey" | "endMs">,
): readonly EntryOf<"model_call">[] {
  const told = data["sessionStartTime"] ?? asObject(data["accountingSnapshot"])?.["sessionStartTime"];
  const startMs = asCount(told) ?? asTimeMs(told) ?? 0;
  return Object.entries(sums).map(([model, usage]) => ({
    kind: "model_call",
    ...defined<typeof at>({ timeMs: at.timeMs, promptKey: at.promptKey, endMs: at.endMs }),
    key: `sums:${startMs}:${model}`,
    model,
    usage,
    complete: true,
    covers: "session",
  }));
}
