import { expect, test } from "vitest";
import { subscriptionOf } from "#agents/codex/rate-limits.ts";

const line = (plan: unknown, timestamp = "2026-11-21T06:00:00.000Z"): string =>
  JSON.stringify({ timestamp, type: "event_msg", payload: { type: "token_count", rate_limits: { plan_type: plan } } });

test.each([
  ["a plan", [line("plus")], "2026-11-21T06:00:00.000Z"],
  ["the last line counts", [line("plus"), line(null), "{}"], undefined],
  ["an API key", [line(null)], undefined],
  ["an unknown plan", [line("unknown")], undefined],
  ["a plan that is billed by use", [line("self_serve_business_usage_based")], undefined],
  ["no time", [line("pro", "soon")], undefined],
  ["a torn line", [line("plus").slice(9)], undefined],
  ["nothing", [], undefined],
])("%s", (_, lines, expected) => {
  expect(subscriptionOf(lines)).toBe(expected === undefined ? undefined : Date.parse(expected));
});
