import type { ModelCall } from "../model/model-call.ts";

/** What Anthropic's API says when it compares a request with the one before. The last two say that it could not compare. */
const MISS_REASONS = [
  "tools_changed",
  "system_changed",
  "model_changed",
  "messages_changed",
  "previous_message_not_found",
  "unavailable",
] as const;
/** `other`: one of a later version. Few enough values for a label. */
export type MissReason = (typeof MISS_REASONS)[number] | "other";

/**
 * The reason that the provider gave for a cache miss, and its estimate of the tokens that followed the difference.
 *
 * @returns `undefined` if it gave no reason or no number of tokens, and if the call read everything from the cache nevertheless:
 *   the comparison is of requests, and does not say what the cache did
 */
export function reportedMiss({
  cacheMiss,
  usage,
}: Pick<ModelCall, "cacheMiss" | "usage">): { readonly reason: MissReason; readonly tokens: number } | undefined {
  const { reason, tokens = 0 } = cacheMiss ?? {};
  const hasReadAll = usage?.input !== undefined && usage.input === usage.cacheRead;
  if (reason === undefined || tokens === 0 || hasReadAll) return undefined;
  return { reason: MISS_REASONS.find((known) => known === reason) ?? "other", tokens };
}
