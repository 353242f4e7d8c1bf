import type { TokenUsage } from "../../model/transcript.ts";
import { asArray, asCount, asObject, asString } from "../shared/payload/json.ts";
import type { Line } from "./line-context.ts";

/** Anthropic's `input_tokens` excludes the cache; ours includes it. `undefined` if input or output is missing. */
export function usageOf(usage: Line | undefined): TokenUsage | undefined {
  if (usage === undefined) return undefined;
  const fresh = asCount(usage["input_tokens"]);
  const output = asCount(usage["output_tokens"]);
  if (output === undefined) return undefined;
  const cacheRead = asCount(usage["cache_read_input_tokens"]);
  const lifetimes = asObject(usage["cache_creation"]);
  const cacheWrite5m = asCount(lifetimes?.["ephemeral_5m_input_tokens"]);
  const cacheWrite1h = asCount(lifetimes?.["ephemeral_1h_input_tokens"]);
  const cacheWrite = asCount(usage["cache_creation_input_tokens"]) ?? sumOf(cacheWrite5m, cacheWrite1h);
  return {
    input: (fresh ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0),
    output,
    cacheRead,
    cacheWrite,
    cacheWrite5m,
    cacheWrite1h,
    reasoning: asCount(asObject(usage["output_tokens_details"])?.["thinking_tokens"]),
  };
}

/**
 * Whether the public price list does not apply to an answer: fast mode, another service tier (priority or batch), inference in
 * one region. The price table has none of these prices.
 */
export const hasOtherPrice = (usage: Line | undefined): boolean =>
  usage?.["speed"] === "fast" ||
  !LISTED_TIERS.has(usage?.["service_tier"] ?? null) ||
  usage?.["inference_geo"] === "us";

/** A model pass of an answer that the answer's own figures exclude. */
export interface Pass {
  /** Index among all passes of the answer. */
  readonly index: number;
  readonly model: string | undefined;
  readonly usage: TokenUsage;
}

/** Passes that count as separate calls: advice of a stronger model, a compaction on the server, a refusal. */
export function separatePasses(usage: Line | undefined): readonly Pass[] {
  if (!Array.isArray(usage?.["iterations"])) return [];
  const passes = asArray(usage["iterations"]).map(asObject);
  const own = passes.filter((pass) => INCLUDED_PASSES.has(pass?.["type"]));
  const hasFallenBack = own.some((pass) => pass?.["type"] === "fallback_message");
  const answered = hasFallenBack ? asString(own.at(-1)?.["model"]) : undefined;
  return passes.flatMap((pass, index): Pass[] => {
    const model = asString(pass?.["model"]);
    const isRefused =
      INCLUDED_PASSES.has(pass?.["type"]) && answered !== undefined && model !== undefined && model !== answered;
    if (!BESIDE.has(pass?.["type"]) && !isRefused) return [];
    const used = usageOf(pass);
    // A refusal without output is free
    if (used === undefined || (isRefused && used.output === 0)) return [];
    return [{ index, model, usage: used }];
  });
}

// --- internal ---

/** Also the names that proxies for other providers send. */
const LISTED_TIERS: ReadonlySet<unknown> = new Set([null, "", "standard", "default", "auto"]);

const sumOf = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);

const BESIDE: ReadonlySet<unknown> = new Set(["advisor_message", "compaction"]);
/** Passes that the answer's figures include: those of the model that answered, even if another one refused before. */
const INCLUDED_PASSES: ReadonlySet<unknown> = new Set(["message", "fallback_message"]);
