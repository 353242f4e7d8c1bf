import { expect, test } from "vitest";
import { toHrTime } from "#send/otlp/readable.ts";
import fc from "../support/properties.ts";

test.each([
  [1_760_000_000_000, [1_760_000_000, 0]],
  [1_760_000_000_123, [1_760_000_000, 123_000_000]],
  [1_760_000_000_123.456, [1_760_000_000, 123_456_000]],
  [1_760_000_000_999.9, [1_760_000_000, 999_900_000]],
  [0.000001, [0, 1]],
  [999.9999999, [1, 0]],
  [1e-7, [0, 0]],
  [0, [0, 0]],
  [-5, [0, 0]],
  [Number.NaN, [0, 0]],
  [Number.POSITIVE_INFINITY, [0, 0]],
])("%d ms", (ms, expected) => {
  expect(toHrTime(ms)).toEqual(expected);
});

test("every microsecond of this century is exact", () => {
  fc.assert(
    fc.property(fc.integer({ min: 946_684_800_000, max: 4_102_444_800_000 }), fc.nat(999), (ms, micros) => {
      const [seconds, nanos] = toHrTime(Number(`${ms}.${String(micros).padStart(3, "0")}`));
      expect(BigInt(seconds) * 1_000_000_000n + BigInt(nanos)).toBe(BigInt(ms) * 1_000_000n + BigInt(micros) * 1000n);
    }),
  );
});

test("nanoseconds stay below a second, and the total below 2^64", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true }), (ms) => {
      const [seconds, nanos] = toHrTime(ms);
      expect(nanos).toBeGreaterThanOrEqual(0);
      expect(nanos).toBeLessThan(1_000_000_000);
      expect(BigInt(seconds) * 1_000_000_000n + BigInt(nanos)).toBeLessThan(2n ** 64n);
    }),
  );
});
