import { join } from "node:path";
import type { TokenUsage } from "#core/model/transcript.ts";
import type { Writable } from "#kit/objects.ts";
import { defined } from "#kit/objects.ts";
import { readSmallSync } from "#kit/open.ts";
import { asArray, asCount, asObject, asString, asTimeMs, parsedObject } from "../shared/payload/json.ts";
import { foldersOf } from "./places.ts";

/** Usage by model, with the number of calls that it is of. */
type ModelUsage = Readonly<Record<string, CallsUsage>>;

/** A turn's usage by model. Input includes cache reads and writes, output includes reasoning. */
export function usageIn(usage: unknown): ModelUsage {
  const byModel = asObject(asObject(usage)?.["modelUsage"]);
  const own = Object.entries(byModel ?? {}).flatMap(([model, one]) => {
    const calls = callsUsageIn(one);
    return model === "" || calls === undefined ? [] : [[model, calls] as const];
  });
  if (own.length > 0) return Object.fromEntries(own);
  const all = callsUsageIn(usage);
  return all === undefined || isZero(all) ? {} : { [asString(asObject(usage)?.["primaryModelId"]) ?? ""]: all };
}

/**
 * A turn's usage without that of the subagents that ended in it: the turn's usage includes theirs, and each subagent's file has it again.
 *
 * @param untilMs end of the turn
 */
export function withoutSubagents(usage: ModelUsage, children: readonly ModelUsage[]): ModelUsage {
  const rest: Record<string, CallsUsage> = { ...usage };
  for (const child of children) {
    for (const [model, calls] of Object.entries(child)) {
      const before = rest[model];
      if (before !== undefined) rest[model] = difference(before, calls);
    }
  }
  return Object.fromEntries(Object.entries(rest).filter(([model, calls]) => !isZero(calls) || isZero(usage[model])));
}

/** The turns of a subagent that ended within a turn of its parent, from its `usage.json`. */
export function subagentTurns(
  childId: string,
  turn: { readonly startMs: number; readonly endMs: number },
  searched: readonly string[],
  roots: readonly string[] | undefined,
): readonly ModelUsage[] {
  return foldersOf(searched, childId).flatMap((folder) => {
    const bytes = readSmallSync(join(folder, "usage.json"), MAX_USAGE_BYTES, roots);
    return asArray((bytes && parsedObject(bytes))?.["turns"]).flatMap((one) => {
      const endedMs = asTimeMs(asObject(one)?.["endedAt"]);
      return endedMs === undefined || endedMs <= turn.startMs || endedMs > turn.endMs ? [] : [usageIn(one)];
    });
  });
}

// --- internal ---

interface CallsUsage {
  readonly usage: TokenUsage;
  /** Absent: unknown. */
  readonly coveredCalls?: number;
}

const MAX_USAGE_BYTES = 16 << 20;

const FIGURES = ["input", "output", "cacheRead", "cacheWrite", "reasoning"] as const;

function callsUsageIn(usage: unknown): CallsUsage | undefined {
  const u = asObject(usage);
  const tokens = defined<TokenUsage>({
    input: asCount(u?.["inputTokens"]),
    output: asCount(u?.["outputTokens"]),
    cacheRead: asCount(u?.["cachedReadTokens"]),
    cacheWrite: asCount(u?.["cacheCreationTokens"]),
    reasoning: asCount(u?.["reasoningTokens"]),
  });
  return Object.keys(tokens).length === 0 ? undefined : withCalls(tokens, asCount(u?.["modelCalls"]));
}

/** Tokens without a call contradict each other: the number of calls is then unknown. */
const withCalls = (usage: TokenUsage, calls = 0): CallsUsage =>
  calls > 0 ? { usage, coveredCalls: calls } : { usage };

/** Tokens that only the turn reports stay: a subagent that does not report them may have none. But it made calls. */
function difference({ usage, coveredCalls }: CallsUsage, part: CallsUsage): CallsUsage {
  const rest: Writable<TokenUsage> = { ...usage };
  for (const figure of FIGURES) {
    const tokens = usage[figure];
    if (tokens !== undefined) rest[figure] = Math.max(0, tokens - (part.usage[figure] ?? 0));
  }
  return withCalls(rest, (coveredCalls ?? 0) - (part.coveredCalls ?? Number.POSITIVE_INFINITY));
}

const isZero = (one: CallsUsage | undefined): boolean => FIGURES.every((figure) => (one?.usage[figure] ?? 0) === 0);
