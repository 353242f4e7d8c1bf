import type { Headers } from "#config/headers.ts";

/**
 * How long headers are used, in milliseconds since the epoch: until shortly before the first token in them that names its end (`exp`
 * of a JWT), at most a day; otherwise a quarter of an hour, which is far below the life of usual tokens.
 */
export function expiryOf(headers: Headers, nowMs: number): number {
  const ends = Object.values(headers).flatMap((value) => value.split(/\s+/).flatMap((word) => endOf(word) ?? []));
  return ends.length === 0 ? nowMs + UNKNOWN_MS : Math.min(...ends.map((ms) => ms - EARLY_MS), nowMs + LONGEST_MS);
}

// --- internal ---

const UNKNOWN_MS = 15 * 60_000;
const LONGEST_MS = 86_400_000;
/** A request takes time, and clocks differ. */
const EARLY_MS = 60_000;

/** RFC 7519: the second part of a JWT is JSON, `exp` is in seconds. */
function endOf(word: string): number | undefined {
  const payload = /^[\w-]+\.([\w-]+)\.[\w-]*$/.exec(word)?.[1];
  if (payload === undefined) return undefined;
  try {
    const exp: unknown = JSON.parse(Buffer.from(payload, "base64url").toString())?.exp;
    return typeof exp === "number" && Number.isFinite(exp) ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}
