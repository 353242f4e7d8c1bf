// Which store counts. A state directory copied to another machine is another instance: nothing that the original counts is
// counted again, and nothing of the copy is lost.
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Places } from "#config/places.ts";
import { counterValues } from "#store/counters.ts";
import { openDatabase } from "#store/database.ts";
import { readMeta, writeMeta } from "#store/meta.ts";
import { readStore } from "#store/read-only.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { CASES, Replay } from "../support/replay.ts";
import type { Expected } from "../support/summary.ts";

let original: Replay;
let copy: Replay;
let receiver: Receiver;
beforeEach(async () => {
  original = new Replay("claude-code", "multi-turn");
  copy = new Replay("claude-code", "parallel-tools");
  receiver = await startReceiver();
  for (const one of [original, copy]) one.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
});
afterEach(async () => {
  original.remove();
  copy.remove();
  await receiver.close();
});

/** No late events in these tests. */
const AT_ONCE = { sleep: async () => {} };

const expectedOf = (name: string) => {
  const { sessions } = JSON.parse(readFileSync(join(CASES, "claude-code", name, "expected.json"), "utf8")) as Expected;
  return {
    input: sessions.reduce((sum, s) => sum + (s.totals["input"] ?? 0), 0),
    output: sessions.reduce((sum, s) => sum + (s.totals["output"] ?? 0), 0),
    tools: sessions.reduce((sum, s) => sum + s.tool_calls.length, 0),
    prompts: sessions.reduce((sum, s) => sum + s.prompts, 0),
  };
};

function countedIn({ places }: Replay) {
  const values = readStore(places.storePath, (db) => counterValues(db)) ?? [];
  const sum = (metric: string, type?: string): number =>
    values
      .filter((v) => v.metric === metric && (type === undefined || v.attributes["openhook.token.type"] === type))
      .reduce((total, { value }) => total + value, 0);
  return {
    input: sum("openhook.token.usage", "input"),
    output: sum("openhook.token.usage", "output"),
    tools: sum("openhook.tool.call.count"),
    prompts: sum("openhook.turn.count"),
  };
}
const instanceOf = ({ places }: Replay) => readStore(places.storePath, (db) => readMeta(db, "instance.id"));
const copyState = (): void => cpSync(original.places.stateDir, copy.places.stateDir, { recursive: true });

test.each([
  ["in mid-turn", 0.6],
  ["before anything was settled", 0.2],
  ["after its end", 1],
])("copied %s: each machine counts its own calls, none twice", async (_, share) => {
  const until = Math.ceil(original.calls.length * share);
  for (const call of original.calls.slice(0, until)) original.put(call, Date.now());
  await original.drain({}, AT_ONCE);
  copyState();
  // The copy's own work arrives before its first drain: it must not be removed with the original's sums
  for (const call of copy.calls) copy.put(call, Date.now());
  await copy.drain({ endIdle: true }, AT_ONCE);
  for (const call of original.calls.slice(until)) original.put(call, Date.now());
  await original.drain({ endIdle: true }, AT_ONCE);

  expect(countedIn(original)).toEqual(expectedOf("multi-turn"));
  expect(countedIn(copy)).toEqual(expectedOf("parallel-tools"));
  expect(instanceOf(copy)).not.toBe(instanceOf(original));
  const before = countedIn(copy);
  await copy.drain({}, AT_ONCE);
  expect(countedIn(copy)).toEqual(before);
});

test("queued spans are sent by both, with the same ids", async () => {
  original.env = {};
  for (const call of original.calls) original.put(call, Date.now());
  await original.drain({ endIdle: true }, AT_ONCE);
  copyState();
  original.env = copy.env;
  await original.drain({}, AT_ONCE);
  const sent = receiver.spans.map(({ spanId }) => spanId);
  expect(sent.length).toBeGreaterThan(5);
  await copy.drain({}, AT_ONCE);
  const again = receiver.spans.slice(sent.length).map(({ spanId }) => spanId);
  expect([...again].sort()).toEqual([...sent].sort());
  // One series per instance, none of both
  const turns = receiver.latestPoints().filter(({ name }) => name === "openhook.turn.count");
  expect(new Set(turns.map(({ resource }) => resource["service.instance.id"]))).toEqual(
    new Set([instanceOf(original)]),
  );
});

test("the instance id is in the main file before anything is sent under it", async () => {
  let kept: string | undefined;
  const deliver = async ({ places }: { readonly places: Places }): Promise<void> => {
    // As after a kill with a lost log
    const alone = join(copy.home, "alone.db");
    cpSync(places.storePath, alone);
    kept = readStore(alone, (db) => readMeta(db, "instance.id"));
  };
  await original.drain({ endIdle: true, deliver }, AT_ONCE);
  expect(kept).toBe(instanceOf(original));
  expect(kept).toMatch(/^[0-9a-f-]{36}$/);
});

test("a machine that returns after a month has a new instance id, and nothing is counted again", async () => {
  const DAY_MS = 86_400_000;
  const startMs = Date.now() - 100 * DAY_MS;
  const drainAfter = (days: number, to: string) => {
    original.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: to };
    return original.drain({ endIdle: true, isEager: true }, { ...AT_ONCE, now: () => startMs + days * DAY_MS });
  };
  /** What a backend has of each instance. */
  const input = () =>
    receiver
      .latestPoints()
      .filter(
        ({ name, attributes }) => name === "openhook.token.usage" && attributes["openhook.token.type"] === "input",
      )
      .map(({ resource, data }) => [resource["service.instance.id"], data.kind === "sum" ? data.value : -1]);
  const ended = original.calls.findIndex(({ event }) => event === "SessionEnd") + 1;
  for (const call of original.calls.slice(0, ended)) original.put(call);
  await drainAfter(0, receiver.url);
  const first = instanceOf(original);
  const countedInput = countedIn(original).input;
  expect(input()).toEqual([[first, countedInput]]);

  // Counted while no backend could be reached
  for (const call of original.calls.slice(ended)) original.put(call);
  await drainAfter(1, "http://127.0.0.1:9");
  const all = expectedOf("multi-turn").input;
  await drainAfter(27, receiver.url);
  expect(instanceOf(original)).toBe(first);
  expect(input()).toEqual([[first, all]]);

  const db = openDatabase(original.places.storePath);
  writeMeta(db, "outbox.dropped_total", "3");
  db.close();
  await drainAfter(28, receiver.url);
  receiver.clear();
  for (const session of [1, 2]) {
    await drainAfter(28 + 40 * session, receiver.url);
    expect(instanceOf(original)).not.toBe(first);
    expect(input()).toEqual([]);
  }
  const dropped = receiver.latestPoints().filter(({ name }) => name === "openhook.collector.dropped.count");
  expect(dropped).toEqual([]);
});
