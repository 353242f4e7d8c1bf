// Slow: only `npm run test:all` runs it. Older stores that are put back at several times; drain/instance.test.ts has copies.
//
// An older store.db that is put back knows neither its later sums nor which facts are in them. Over all series, a backend must have
// each fact once.
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { reconcile } from "#commands/reconcile.ts";
import { status } from "#commands/status.ts";
import { filesOf, openDatabase } from "#store/database.ts";
import { deliveredLogOf } from "#store/delivered-log.ts";
import { fileSystemOf } from "#store/file-system.ts";
import { readMeta } from "#store/meta.ts";
import { putBackOf } from "#store/put-back.ts";
import { readStore } from "#store/read-only.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { contextAt } from "../support/context.ts";
import { CASES, Replay } from "../support/replay.ts";
import type { Expected } from "../support/summary.ts";
import { IS_WHOLE } from "../support/whole.ts";

let replay: Replay;
let receiver: Receiver;
let done: number;
beforeEach(async () => {
  replay = new Replay("claude-code", "multi-turn", { withTranscripts: false });
  receiver = await startReceiver();
  done = 0;
  use({});
});
afterEach(async () => {
  replay.remove();
  await receiver.close();
});

const use = (more: Record<string, string>, url = receiver.url): void => {
  replay.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: url, ...more };
};
const NOWHERE = "http://127.0.0.1:9";

/** The agent works until a share of its calls is made, then a drain runs. */
async function workUntil(share: number): Promise<readonly string[]> {
  const until = Math.ceil(replay.calls.length * share);
  for (const call of replay.calls.slice(done, until)) replay.put(call);
  const last = replay.calls[until - 1];
  done = until;
  if (last !== undefined) replay.writeTranscripts({ untilMs: share === 1 ? 9e15 : Date.parse(last.received_at) });
  // The session is not idle yet
  const now = (): number => Date.parse(last?.received_at ?? "") + 1_000;
  const { problems } = await replay.drain(
    { isEager: true, endIdle: share === 1 },
    { sleep: async () => {}, ...(Number.isNaN(now()) ? {} : { now }) },
  );
  return problems;
}
const backup = (): string => join(replay.home, "backup.db");
function backUp(): void {
  for (const [i, file] of filesOf(replay.places.storePath).entries()) {
    if (existsSync(file)) copyFileSync(file, filesOf(backup())[i] ?? "");
  }
}
function putBack(): void {
  for (const [i, file] of filesOf(backup()).entries()) {
    const to = filesOf(replay.places.storePath)[i] ?? "";
    rmSync(to, { force: true });
    if (existsSync(file)) copyFileSync(file, to);
  }
}

/** Not sessions: that one ended is only in its hooks' events, which are lost with the store. */
const METRICS = ["openhook.token.usage", "openhook.tool.call.count", "openhook.turn.count"];
/** What a backend has: the last value of each cumulative series, or the sum of all increments. */
function received(isDelta = false): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { name, attributes, data } of isDelta ? receiver.metricPoints : receiver.latestPoints()) {
    const type = attributes["openhook.token.type"];
    const key = type === undefined ? name : `${name} ${type}`;
    if (METRICS.includes(name) && data.kind === "sum") sums[key] = (sums[key] ?? 0) + data.value;
  }
  return sums;
}
/** The same with drains at the same times, without a store that was put back. */
async function undisturbed(shares: readonly number[], isDelta = false): Promise<Readonly<Record<string, number>>> {
  for (const share of [...shares, 1]) await workUntil(share);
  const sums = received(isDelta);
  const { sessions } = JSON.parse(
    readFileSync(join(CASES, "claude-code", "multi-turn", "expected.json"), "utf8"),
  ) as Expected;
  expect(sums["openhook.token.usage input"]).toBe(sessions.reduce((sum, s) => sum + (s.totals["input"] ?? 0), 0));
  replay.remove();
  receiver.clear();
  replay = new Replay("claude-code", "multi-turn", { withTranscripts: false });
  done = 0;
  return sums;
}
const fact = <T>(key: string, of: (value: string | undefined) => T): T =>
  of(readStore(replay.places.storePath, (db) => readMeta(db, key)));
const instance = () => fact("instance.id", (id) => id);
const noticed = () => readStore(replay.places.storePath, putBackOf);

const CASES_OF = [
  [0.3, 0.6],
  [0.1, 0.5],
  [0.5, 0.9],
  [0.6, 1],
  [0.2, 0.3],
] as const;
describe.each([
  ["cumulative", {}],
  ["delta", { OPENHOOK_OTEL_OTLP_METRICS_TEMPORALITY: "delta" }],
])("%s", (name, env) => {
  test.each(IS_WHOLE ? CASES_OF : CASES_OF.slice(0, 2))(
    "saved after %d of the work, put back after %d: no fact is lost or counted twice",
    async (saved, back) => {
      use(env);
      const isDelta = name === "delta";
      const expected = await undisturbed([saved, back], isDelta);
      use(env);
      await workUntil(saved);
      backUp();
      await workUntil(back);
      const first = instance();
      putBack();
      expect((await workUntil(1)).join()).toContain("an older store.db was put back");
      expect(instance()).not.toBe(first);
      expect(received(isDelta)).toEqual(expected);

      // The same backup once more
      putBack();
      expect((await workUntil(1)).join()).toContain("an older store.db was put back");
      await workUntil(1);
      expect(received(isDelta)).toEqual(expected);
    },
  );
});

test("what was counted but not delivered before it was put back is delivered once", async () => {
  const expected = await undisturbed([0.3, 0.5, 0.6, 0.8]);
  use({});
  await workUntil(0.3);
  use({}, NOWHERE);
  await workUntil(0.5);
  backUp();
  use({});
  await workUntil(0.6);
  // Counted by the store that gets lost, never delivered
  use({}, NOWHERE);
  await workUntil(0.8);
  putBack();
  use({});
  await workUntil(1);
  expect(received()).toEqual(expected);
});

test("a store that was deleted: facts of sessions that continue are not counted again", async () => {
  const expected = await undisturbed([0.5]);
  use({});
  await workUntil(0.5);
  for (const file of filesOf(replay.places.storePath)) rmSync(file, { force: true });
  await workUntil(1);
  expect(received()["openhook.token.usage input"]).toBe(expected["openhook.token.usage input"]);
  expect(noticed()).toBeUndefined();
});

test("a drain that was killed before it wrote the file, and half a line of it, are no older store", async () => {
  const expected = await undisturbed([0.3, 0.5, 0.7]);
  use({});
  await workUntil(0.3);
  const log = deliveredLogOf(replay.places.storePath);
  const before = readFileSync(log, "utf8");
  await workUntil(0.5);
  const first = instance();
  writeFileSync(log, `${before}${readFileSync(log, "utf8").slice(before.length, -40)}`);
  expect(await workUntil(0.7)).toEqual([]);
  writeFileSync(log, before);
  expect(await workUntil(1)).toEqual([]);
  expect(instance()).toBe(first);
  expect(received()).toEqual(expected);
});

test("a file that cannot be written is reported, metrics are delivered, and later nothing is missing in it", async () => {
  const expected = await undisturbed([0.2, 0.4, 0.6]);
  use({});
  const log = deliveredLogOf(replay.places.storePath);
  mkdirSync(log, { recursive: true });
  await workUntil(0.2);
  backUp();
  const problems = await workUntil(0.4);
  expect(problems.join()).toMatch(/cannot write ".*delivered\.log": .*put back from a backup is not noticed/);
  renameSync(log, `${log}.aside`);
  expect(await workUntil(0.6)).toEqual([]);
  putBack();
  await workUntil(1);
  expect(received()).toEqual(expected);
  expect(noticed()).toMatchObject({ hasGap: false });
});

test("a whole state directory that is put back, file by file, is noticed by the store's file; its sums do not go back", async () => {
  use({});
  await workUntil(0.3);
  const saved = join(replay.home, "saved");
  cpSync(replay.places.stateDir, saved, { recursive: true });
  await workUntil(0.6);
  const first = instance();
  const before = received();
  for (const name of readdirSync(replay.places.stateDir))
    rmSync(join(replay.places.stateDir, name), { recursive: true });
  cpSync(saved, replay.places.stateDir, { recursive: true });
  if (!fileSystemOf(replay.places.stateDir).hasStableInodes) return;
  expect((await workUntil(1)).join()).toContain("later ones are not known");
  expect(instance()).not.toBe(first);
  const old = receiver.latestPoints().filter(({ resource }) => resource["service.instance.id"] === first);
  const input = old.find(({ attributes }) => attributes["openhook.token.type"] === "input");
  expect(input?.data).toMatchObject({ value: before["openhook.token.usage input"] });
  expect(await workUntil(1)).toEqual([]);
});

test("without a backend the digests of counted facts have a limit, and a delivery without all of them says so", async () => {
  replay.env = {};
  await workUntil(0.4);
  backUp();
  const digests = (change?: string): number => {
    const db = openDatabase(replay.places.storePath);
    try {
      if (change !== undefined) db.prepare(change).run();
      return Number(db.prepare("SELECT count(*) AS n FROM counted_lately").get()?.["n"]);
    } finally {
      db.close();
    }
  };
  expect(digests()).toBeGreaterThan(0);
  digests(`INSERT INTO counted_lately (digest)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120000) SELECT i FROM n`);
  await workUntil(0.75);
  expect(digests()).toBe(100_000);
  use({});
  await workUntil(0.8);
  expect(digests()).toBe(0);
  await workUntil(0.9);
  putBack();
  await workUntil(1);
  expect(noticed()).toMatchObject({ hasGap: true });
});

test("status and reconcile report it, with what is not known", async () => {
  use({});
  await workUntil(0.2);
  backUp();
  await workUntil(0.5);
  rmSync(deliveredLogOf(replay.places.storePath));
  await workUntil(0.7);
  putBack();
  await workUntil(1);
  expect(noticed()).toMatchObject({ hasGap: true });
  const world = contextAt(replay.places, { env: replay.env });
  await status({ json: true }, world.context);
  expect(JSON.parse(world.out()).remarks.join()).toMatch(
    /an older store\.db was put back .*new service\.instance\.id; not all .* counted twice/,
  );
  const other = contextAt(replay.places, { env: replay.env });
  await reconcile(undefined, { since: "2020-01-01", sampled: false, json: true }, other.context);
  expect(JSON.parse(other.out()).remarks.join()).toContain("an older store.db was put back");
});
