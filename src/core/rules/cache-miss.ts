import type { ModelCall } from "../model/model-call.ts";

/** What Anthropic's API reports as the first difference between a request and the one before. Fewer words than any label may have. */
export const MISS_REASONS = ["tools_changed", "system_changed", "model_changed", "messages_changed"] as const;
export type MissReason = (typeof MISS_REASONS)[number] | "other";

/**
 * The reason that the provider gave for a cache miss, and the tokens that it says followed the difference: never more than the
 * call did not read from the cache.
 *
 * @returns `undefined` if it gave no reason, if it could not compare (`previous_message_not_found`, `unavailable`), and if everything was
 *   read from the cache nevertheless: the comparison is of requests, and does not say what the cache did
 */
export function reportedMiss({
  cacheMiss,
  usage,
}: Pick<ModelCall, "cacheMiss" | "usage">): { readonly reason: MissReason; readonly tokens: number } | undefined {
  if (cacheMiss?.tokens === undefined) return undefined;
  const { reason } = cacheMiss;
  const unread = usage?.input === undefined ? cacheMiss.tokens : usage.input - (usage.cacheRead ?? 0);
  const tokens = Math.min(cacheMiss.tokens, unread);
  if (tokens <= 0) return undefined;
  return { reason: MISS_REASONS.find((known) => known === reason) ?? "other", tokens };
}
