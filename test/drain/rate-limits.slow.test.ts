// Slow: only `npm run test:all` runs it. Rate limits as a backend receives them; codex/rate-limits.test.ts and
// statusline/*.test.ts read them.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseSummary, reportedLimitsPath, summaryPath } from "#show/statusline/summary.ts";
import { startReceiver } from "../receiver/receiver.ts";
import { Replay } from "../support/replay.ts";

test("a drain sends the limits of agents until they are reset, and status lines show them", async () => {
  const receiver = await startReceiver();
  const rate_limits = { primary: { used_percent: 12.5, window_minutes: 300, resets_at: 1_797_000_000 } };
  const last = JSON.stringify({ type: "event_msg", payload: { type: "token_count", info: null, rate_limits } });
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
