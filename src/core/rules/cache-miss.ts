import type { ModelCall } from "../model/model-call.ts";

/** What Anthropic's API reports as the first difference between a request and the one before. */
const MISS_REASONS = ["tools_changed", "system_changed", "model_changed", "messages_changed"] as const;
/** `other`: one of a later version. Few enough values for a label. */
export type MissReason = (typeof MISS_REASONS)[number] | "other";

/** It could not compare. */
const NO_REASONS: ReadonlySet<string> = new Set(["previous_message_not_found", "unavailable"]);

/**
 * The reason that the provider gave for a cache miss, and the tokens that it says followed the difference: never more than the
 * call did not read from the cache.
 *
 * @returns `undefined` if it gave no reason, or no number of tokens, if it could not compare, and if everything was
 *   read from the cache nevertheless: the comparison is of requests, and does not say what the cache did
 */
export function reportedMiss({
  cacheMiss,
  usage,
}: Pick<ModelCall, "cacheMiss" | "usage">): { readonly reason: MissReason; readonly tokens: number } | undefined {
  if (cacheMiss?.tokens === undefined || NO_REASONS.has(cacheMiss.reason)) return undefined;
  const { reason } = cacheMiss;
  const unread = usage?.input === undefined ? cacheMiss.tokens : usage.input - (usage.cacheRead ?? 0);
  const tokens = Math.min(cacheMiss.tokens, unread);
  if (tokens <= 0) return undefined;
  return { reason: MISS_REASONS.find((known) => known === reason) ?? "other", tokens };
}
