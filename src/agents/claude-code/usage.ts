import { UNKNOWN_TIER } from "#core/model/model-call.ts";
import type { TokenUsage } from "#core/model/transcript.ts";
import { sumKnown, withParts } from "#kit/numbers.ts";
import { asArray, asCode, asCount, asObject, asString } from "../shared/payload/json.ts";
import type { Line } from "./line-context.ts";
import { USAGE_FIELDS } from "./usage-fields.ts";

/**
 * Anthropic's `input_tokens` excludes the cache; ours includes it. A missing figure is unknown and the others stay. Servers without
 * a cache, or without charges for writing it, omit those figures; a server that reports writes also reports reads.
 */
export function usageOf(usage: Line | undefined): TokenUsage | undefined {
  if (usage === undefined) return undefined;
  const fresh = asCount(usage[USAGE_FIELDS.input]);
  const cacheRead = asCount(usage[USAGE_FIELDS.cacheRead]);
  const lifetimes = asObject(usage["cache_creation"]);
  const cacheWrite5m = asCount(lifetimes?.["ephemeral_5m_input_tokens"]);
  const cacheWrite1h = asCount(lifetimes?.["ephemeral_1h_input_tokens"]);
  const cacheWrite = asCount(usage[USAGE_FIELDS.cacheWrite]) ?? sumKnown([cacheWrite5m, cacheWrite1h]);
  const areReadsMissing = cacheRead === undefined && cacheWrite !== undefined && cacheWrite > 0;
  const counts = {
    input: areReadsMissing ? undefined : withParts(fresh, cacheRead, cacheWrite),
    output: asCount(usage[USAGE_FIELDS.output]),
    cacheRead,
    cacheWrite,
    cacheWrite5m,
    cacheWrite1h,
    reasoning: asCount(asObject(usage["output_tokens_details"])?.["thinking_tokens"]),
  };
  return Object.values(counts).some((count) => count !== undefined) ? counts : undefined;
}

/**
 * The service tier of an answer, if it is not the standard one: fast mode, priority or batch, inference in one region (`us`). The price
 * table has none of these prices.
 */
export function tierOf(usage: Line | undefined): string | undefined {
  const tier = usage?.["service_tier"];
  const parts = [
    ...(LISTED_TIERS.has(tier ?? null) ? [] : [asCode(asString(tier)) ?? UNKNOWN_TIER]),
    ...(usage?.["speed"] === "fast" ? ["fast"] : []),
    ...(usage?.["inference_geo"] === "us" ? ["us"] : []),
  ];
  return parts.length === 0 ? undefined : parts.join("+");
}

/** A model pass of an answer that the answer's own figures exclude. */
interface Pass {
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

const BESIDE: ReadonlySet<unknown> = new Set(["advisor_message", "compaction"]);
/** Passes that the answer's figures include: those of the model that answered, even if another one refused before. */
const INCLUDED_PASSES: ReadonlySet<unknown> = new Set(["message", "fallback_message"]);
