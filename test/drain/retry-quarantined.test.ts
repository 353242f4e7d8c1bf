// Payloads that one version could not convert are retried by the next one, each once, and counted once.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { collectStatus } from "#check/health/examine.ts";
import type { Agent } from "#core/model/agent.ts";
import { openDatabase } from "#store/database.ts";
import { RETRIED_QUARANTINE, writeMeta } from "#store/meta.ts";
import { clockAt } from "../support/clock.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";
import { countersAndRows } from "../support/summary.ts";

let replay: Replay;
let tried = 0;
beforeEach(() => {
  replay = new Replay("claude-code", "basic");
  tried = 0;
});
afterEach(() => replay.remove());

const clock = clockAt(Date.parse("2026-11-22T10:00:00Z"));

/** Claude Code's adapter, which cannot convert anything, or can and counts its attempts. */
async function agents(canConvert: boolean): Promise<readonly Agent[]> {
  return (await allAgents()).map((card) => {
    if (card.source !== "claude-code") return card;
    const toEvents: Agent["toEvents"] = (payload, facts) => {
      tried++;
      if (!canConvert) throw new TypeError("not known yet");
      return card.toEvents(payload, facts);
    };
    return { ...card, toEvents };
  });
}

const quarantined = (): readonly string[] => {
  const { quarantineDir } = replay.places;
  return existsSync(quarantineDir) ? readdirSync(quarantineDir).sort() : [];
};

async function drainAs(version: string, canConvert: boolean) {
  return replay.drain({ endIdle: true }, { ...clock, version, agents: await agents(canConvert) });
}

async function selfCounts() {
  const { context } = contextAt(replay.places, {});
  const { self, inbox } = await collectStatus(context);
  return { payloads: self.payloads, retry: inbox.quarantine_retry };
}

test("a version that can convert quarantined payloads collects them with their times, as if never quarantined", async () => {
  const expected = new Replay("claude-code", "basic");
  for (const call of expected.calls) expected.put(call);
  await expected.drain({ endIdle: true }, clock);
  const counts = countersAndRows(expected.places.storePath);
  expected.remove();

  for (const call of replay.calls) replay.put(call);
  const { length } = replay.calls;
  expect(await drainAs("1.0.0", false)).toMatchObject({ quarantined: length, events: 0 });
  expect(await drainAs("1.1.0", true)).toMatchObject({ quarantined: 0, files: length, problems: [] });
  expect(quarantined()).toEqual([]);
  expect(countersAndRows(replay.places.storePath)).toEqual(counts);
  expect((await selfCounts()).retry).toEqual({ version: "1.1.0", done: true, converted: length });
  expect(await drainAs("1.1.0", true)).toMatchObject({ events: 0, files: 0 });
  expect(countersAndRows(replay.places.storePath)).toEqual(counts);
});

test("a version that cannot convert them either leaves them as they are, uncounted, and tries each once", async () => {
  for (const call of replay.calls) replay.put(call);
  await drainAs("1.0.0", false);
  const [before, { payloads }] = [quarantined(), await selfCounts()];
  const reasons = (): readonly string[] =>
    before.map((name) => readFileSync(join(replay.places.quarantineDir, name), "utf8"));
  const texts = reasons();
  for (const version of ["1.1.0", "1.2.0"]) {
    tried = 0;
    expect(await drainAs(version, false)).toMatchObject({ quarantined: 0, files: 0, problems: [] });
    expect(tried).toBe(replay.calls.length);
    await drainAs(version, false);
    expect(tried).toBe(replay.calls.length);
    expect(quarantined()).toEqual(before);
    expect(reasons()).toEqual(texts);
    expect((await selfCounts()).payloads).toEqual(payloads);
  }
  expect((await selfCounts()).retry).toEqual({ version: "1.2.0", done: true, converted: 0 });
});

test("quarantined payloads are retried with another set of agents of the same version", async () => {
  for (const call of replay.calls) replay.put(call);
  const all = await agents(true);
  const others = all.filter((card) => card.source === "kiro");
  await replay.drain({}, { ...clock, agents: others });
  expect(quarantined().length).toBe(2 * replay.calls.length);
  await replay.drain({}, { ...clock, agents: all });
  expect(quarantined()).toEqual([]);
});

test("an unreadable note of what was retried stops neither drains nor status", async () => {
  for (const call of replay.calls) replay.put(call);
  await drainAs("1.0.0", false);
  for (const text of ["{", "null", "[]"]) {
    const db = openDatabase(replay.places.storePath);
    writeMeta(db, RETRIED_QUARANTINE, text);
    db.close();
    expect((await selfCounts()).retry).toBeNull();
    expect(await drainAs("1.0.0", false)).toMatchObject({ problems: [] });
    expect((await selfCounts()).retry).toMatchObject({ version: "1.0.0", done: true });
  }
});

test("a drain retries a limited number of files; foreign and torn files stay", async () => {
  await drainAs("1.0.0", true);
  const { quarantineDir } = replay.places;
  const name = (i: number): string => `${String(i).padStart(20, "0")}-1-1-0.evt`;
  for (let i = 0; i < 510; i++)
    writeFileSync(join(quarantineDir, name(i)), 'openhook-inbox 1\nppid=1\n\n{"a":1}\nend=whole\n');
  writeFileSync(join(quarantineDir, "foreign"), "text");
  writeFileSync(join(quarantineDir, "99-torn.evt"), 'openhook-inbox 1\n\n{"a"');
  const before = quarantined();
  await drainAs("1.1.0", true);
  expect((await selfCounts()).retry).toMatchObject({ version: "1.1.0", done: false });
  await drainAs("1.1.0", true);
  expect((await selfCounts()).retry).toMatchObject({ version: "1.1.0", done: true });
  expect(quarantined()).toEqual(before);
});
