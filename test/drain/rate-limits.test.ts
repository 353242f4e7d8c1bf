import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import codex from "../../src/agents/codex/index.ts";
import { reportedLimitsPath } from "../../src/statusline/limits.ts";
import { parseSummary, summaryPath } from "../../src/statusline/summary.ts";
import { startReceiver } from "../receiver/receiver.ts";
import { Replay } from "../support/replay.ts";

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
  expect(codex.rateLimitsOf(lines)).toEqual([
    { window: "five_hour", percent: 12.5, resetsAtMs: 1_795_000_000_000 },
    { window: "seven_day", percent: 40, resetsAtMs: Date.parse("2026-11-21T06:01:30.000Z") },
  ]);
  expect(codex.rateLimitsOf(["", "{", line({ primary: { used_percent: "all", window_minutes: 300 } })])).toEqual([]);
});

test("a drain sends the limits of agents until they are reset, and status lines show them", async () => {
  const receiver = await startReceiver();
  const last = line({ primary: { used_percent: 12.5, window_minutes: 300, resets_at: 1_797_000_000 } });
  const of = new Replay("codex", "basic", {
    edit: (text, path) => (path.includes("rollout-") ? `${text}${last}\n` : text),
  });
  of.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
  for (const call of of.calls) of.put(call);
  mkdirSync(of.places.stateDir, { recursive: true });
  const resets = 1_797_000_100;
  writeFileSync(
    reportedLimitsPath(of.places.stateDir, "claude-code"),
    `five_hour 85.5 ${resets}\nseven_day 41 1700000000\nend\n`,
  );
  writeFileSync(summaryPath(of.places.stateDir), "");
  const nowMs = 1_796_990_000_000;
  await of.drain({ endIdle: true }, { now: () => nowMs });
  const shown = receiver
    .latestPoints()
    .filter(({ name }) => name.startsWith("openhook.rate_limit."))
    .map(({ name, resource, attributes, data }) => [
      name,
      resource["service.name"],
      attributes["openhook.rate_limit.window"],
      data.kind === "gauge" ? data.value : undefined,
    ]);
  expect(shown.sort()).toEqual([
    ["openhook.rate_limit.reset.time", "claude-code", "five_hour", resets],
    ["openhook.rate_limit.reset.time", "codex", "five_hour", 1_797_000_000],
    ["openhook.rate_limit.usage", "claude-code", "five_hour", 0.855],
    ["openhook.rate_limit.usage", "codex", "five_hour", 0.125],
  ]);
  const summary = parseSummary(readFileSync(summaryPath(of.places.stateDir), "utf8"));
  expect(summary?.limits).toEqual([
    { agent: "claude-code", label: "5h", percent: 85.5, resetsAtMs: resets * 1000 },
    { agent: "codex", label: "5h", percent: 12.5, resetsAtMs: 1_797_000_000_000 },
  ]);
  of.remove();
  await receiver.close();
});
