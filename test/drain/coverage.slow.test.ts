// Slow: only `npm run test:all` runs it. What covers an agent; telemetry/self-delivery.slow.test.ts delivers the metrics.
import { cpSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { allAgents, findAgent } from "#agents/registry.ts";
import { coverageOf } from "#check/health/coverage.ts";
import { disable } from "#commands/disable.ts";
import { enable } from "#commands/enable.ts";
import { COVERAGES } from "#core/telemetry/self.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { contextAt } from "../support/context.ts";
import { ROOT } from "../support/program.ts";
import { Replay } from "../support/replay.ts";

const HOUR_MS = 3_600_000;
const hookSource = join(ROOT, "src", "collect", "intake", "hook.sh");
const lookup = { list: allAgents, find: findAgent };

let replay: Replay;
let receiver: Receiver;
let nowMs: number;
beforeEach(async () => {
  receiver = await startReceiver();
  replay = new Replay("claude-code", "basic");
  replay.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
  nowMs = Date.now();
});
afterEach(async () => {
  replay.remove();
  await receiver.close();
});

const points = (name: string) => receiver.latestPoints().filter((point) => point.name === `openhook.collector.${name}`);
const gaugeOf = ({ data }: ReturnType<typeof points>[number]): number => (data.kind === "gauge" ? data.value : -1);

/** Drains an hour later. @returns the coverage of each agent that has one */
async function reported(): Promise<Record<string, string>> {
  nowMs += HOUR_MS + 1;
  const now = (): number => nowMs;
  await replay.drain({ isEager: true }, { now, agents: await allAgents(), sleep: async () => {}, coverageOf });
  return coverage();
}

function coverage(): Record<string, string> {
  return Object.fromEntries(
    points("coverage.agents").flatMap((point) =>
      gaugeOf(point) === 1
        ? [[String(point.attributes["openhook.source"]), String(point.attributes["openhook.collector.coverage"])]]
        : [],
    ),
  );
}

const run = async (command: "enable" | "disable", scope: "user" | "project", agent = "codex"): Promise<void> => {
  const { context } = contextAt(replay.places, { cwd: join(replay.home, "acme-shop") });
  if (command === "enable") await enable([agent], { scope, yes: true, dryRun: false, hookSource }, context, lookup);
  else await disable([agent], { scope, yes: true, dryRun: false }, context, lookup);
};

/** A session of Codex that was written at a time. */
function codexSession(ageMs: number): void {
  const folder = join(replay.home, ".codex", "sessions", "2026", "11", "21");
  mkdirSync(folder, { recursive: true });
  const name = "rollout-2026-11-21T05-39-34-01a1fc9d-fc4d-7b42-9893-12b6027cd31b.jsonl";
  const path = join(folder, name);
  cpSync(join(ROOT, "test/agents/codex/basic/transcripts/.codex/sessions/2026/11/21", name), path);
  utimesSync(path, new Date(nowMs - ageMs), new Date(nowMs - ageMs));
}

test("an agent is uncovered if it has recent transcripts and no hooks, and covered after enable", async () => {
  rmSync(replay.transcriptRoot, { recursive: true, force: true });
  expect(await reported()).toEqual({});
  codexSession(40 * 24 * HOUR_MS);
  expect(await reported()).toEqual({});
  codexSession(HOUR_MS);
  expect(await reported()).toEqual({ codex: "uncovered" });
  await run("enable", "user");
  expect(await reported()).toMatchObject({ codex: "covered" });
  // Each coverage is one series, and the others are 0
  const all = points("coverage.agents").filter(({ attributes }) => attributes["openhook.source"] === "codex");
  expect(all.map(({ attributes }) => attributes["openhook.collector.coverage"]).sort()).toEqual([...COVERAGES].sort());
  expect(all.map(gaugeOf).reduce((a, b) => a + b)).toBe(1);
});

test("hooks in some projects only cover an agent in part", async () => {
  await run("enable", "project", "claude-code");
  expect(await reported()).toEqual({ "claude-code": "partial" });
  await run("enable", "project");
  await run("enable", "user");
  // Codex does not trust the project, but runs the user's hooks
  expect(await reported()).toEqual({ "claude-code": "partial", codex: "covered" });
});

test("settings that keep hooks from running make an agent blocked", async () => {
  await run("enable", "user");
  const config = join(replay.home, ".codex", "config.toml");
  writeFileSync(config, "[features]\nhooks = false\n");
  expect(await reported()).toMatchObject({ codex: "blocked" });
});

test("an agent that is no longer used has 0 for every coverage", async () => {
  await reported();
  codexSession(HOUR_MS);
  expect(await reported()).toMatchObject({ codex: "uncovered" });
  rmSync(join(replay.home, ".codex"), { recursive: true });
  expect((await reported())["codex"]).toBeUndefined();
  const all = points("coverage.agents").filter(({ attributes }) => attributes["openhook.source"] === "codex");
  expect(all.map(gaugeOf)).toEqual(COVERAGES.map(() => 0));
});

test("enable changes the coverage immediately; otherwise it is determined once an hour", async () => {
  await reported();
  codexSession(HOUR_MS);
  expect(await reported()).toMatchObject({ codex: "uncovered" });
  rmSync(join(replay.home, ".codex"), { recursive: true });
  const soon = { now: () => nowMs + 5 * 60_000, agents: await allAgents(), sleep: async () => {}, coverageOf };
  await replay.drain({ isEager: true }, soon);
  expect(coverage()).toMatchObject({ codex: "uncovered" });
  await run("enable", "user");
  await replay.drain({ isEager: true }, { ...soon, now: () => nowMs + 10 * 60_000 });
  expect(coverage()).toMatchObject({ codex: "covered" });
  await run("disable", "user");
  await replay.drain({ isEager: true }, { ...soon, now: () => nowMs + 15 * 60_000 });
  expect(coverage()["codex"]).toBeUndefined();
});

test("hooks that another program registered cover an agent, until it writes a transcript without them", async () => {
  for (const call of replay.calls) replay.put(call);
  nowMs = Date.parse(replay.calls.at(-1)?.received_at ?? "") - HOUR_MS;
  const written = (ms: number): void => {
    for (const name of readdirSync(replay.transcriptRoot, { recursive: true, encoding: "utf8" }))
      utimesSync(join(replay.transcriptRoot, name), new Date(ms), new Date(ms));
  };
  written(nowMs + HOUR_MS);
  expect(await reported()).toEqual({ "claude-code": "covered" });
  written(nowMs + 2 * HOUR_MS);
  expect(await reported()).toEqual({ "claude-code": "uncovered" });
});

test("metrics have this program's version, and the time of the last completed drain", async () => {
  const drained = async (): Promise<void> => {
    for (const call of replay.calls) replay.put(call, Date.now());
    await replay.drain({ isEager: true });
  };
  const before = Date.now();
  await drained();
  expect(points("report.time").map(({ attributes }) => attributes)).toEqual([
    { "openhook.collector.version": "0.0.0-test" },
  ]);
  expect(points("drain.time")).toEqual([]);
  const between = Date.now();
  await drained();
  const [time = 0] = points("drain.time").map(gaugeOf);
  // HTTP dates have seconds
  expect(time).toBeGreaterThan(before / 1000 - 2);
  expect(time).toBeLessThan(between / 1000 + 2);
});
