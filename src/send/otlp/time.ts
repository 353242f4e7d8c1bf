import type { HrTime } from "@opentelemetry/api";

/**
 * Milliseconds since the epoch as [seconds, nanoseconds].
 *
 * Derived from the number's shortest decimal text, so that 1700000000123.456 becomes …123456000 ns and not the …123456055 of its binary
 * value. Times beyond the unsigned 64 bits of the encoding are moved to the nearest limit.
 *
 * @param ms any finite number; anything else gives [0, 0]
 */
export function toHrTime(ms: number): HrTime {
  if (!Number.isFinite(ms) || ms <= 0) return [0, 0];
  if (ms >= LAST_MS) return toHrTime(LAST_MS - 1);
  const whole = Math.trunc(ms);
  const text = String(ms);
  // Below 1e-6 the text has an exponent: less than a nanosecond
  const fraction = text.includes("e") ? "" : (text.split(".")[1] ?? "");
  const nanos = (whole % 1000) * NANOS_PER_MS + Math.round(Number(`0.${fraction}0`) * NANOS_PER_MS);
  const seconds = Math.trunc(whole / 1000);
  return nanos === NANOS_PER_SECOND ? [seconds + 1, 0] : [seconds, nanos];
}

// --- internal ---

const NANOS_PER_MS = 1_000_000;
const NANOS_PER_SECOND = 1_000_000_000;
/** 2^64 ns, whole milliseconds. */
const LAST_MS = 18_446_744_073_709;
