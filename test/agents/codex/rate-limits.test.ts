import { expect, test } from "vitest";
import codex from "#agents/codex/index.ts";

const line = (limits: object | null, timestamp = "2026-11-21T06:00:00.000Z"): string =>
  JSON.stringify({ timestamp, type: "event_msg", payload: { type: "token_count", info: null, rate_limits: limits } });

test("Codex: the last line with limits counts; windows that the server rounded, and both forms of reset times", () => {
  const primary = { used_percent: 12.5, window_minutes: 299, resets_at: 1_795_000_000 };
  const secondary = { used_percent: 40, window_minutes: 10_080, resets_in_seconds: 90 };
  const lines = [
    'torn": "rate_limits"',
    line({ primary: { ...primary, used_percent: 1 }, secondary: null }),
    line({ primary, secondary }),
    line({ limit_id: "codex", primary: null, secondary: null }),
    line({ primary: { used_percent: 3, window_minutes: 43_200, resets_at: 1_795_000_000 } }),
    line(null),
  ];
  const reportedMs = Date.parse("2026-11-21T06:00:00.000Z");
  expect(codex.rateLimitsOf(lines)).toEqual([
    { window: "five_hour", percent: 12.5, resetsAtMs: 1_795_000_000_000, reportedMs },
    { window: "seven_day", percent: 40, resetsAtMs: Date.parse("2026-11-21T06:01:30.000Z"), reportedMs },
  ]);
  expect(codex.rateLimitsOf(["", "{", line({ primary: { used_percent: "all", window_minutes: 300 } })])).toEqual([]);
});
