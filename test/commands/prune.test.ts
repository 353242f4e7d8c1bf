import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { prune } from "#commands/prune.ts";
import { sessions } from "#commands/sessions.ts";
import { encodeFacts } from "#core/packed/facts.ts";
import { checkpoint, type Database, openDatabase } from "#store/database.ts";
import { queuedCount } from "#store/outbox.ts";
import { putPacked } from "#store/packed.ts";
import { ensureSession } from "#store/sessions.ts";
import { startReceiver } from "../receiver/receiver.ts";
import { clockAt } from "../support/clock.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";

const DAY_MS = 86_400_000;
const LATER = { olderThan: "90d", quarantine: false, dryRun: false, json: false } as const;

let replay: Replay | undefined;
afterEach(() => {
  replay?.remove();
  replay = undefined;
});

/** A recorded session, drained when it happened and, if requested, sent; and the time of its end. */
async function collected(isSent = true): Promise<{ readonly of: Replay; readonly endMs: number }> {
  const of = new Replay("claude-code", "basic");
  replay = of;
  for (const call of of.calls) of.put(call);
  const endMs = Math.max(...of.calls.map((call) => Date.parse(call.received_at))) + 60_000;
  const receiver = await startReceiver();
  if (isSent) of.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
  await of.drain({ endIdle: true, isEager: true }, clockAt(endMs));
  await receiver.close();
  of.env = {};
  return { of, endMs };
}

async function run(of: Replay, options: Parameters<typeof prune>[0], nowMs: number) {
  const world = contextAt(of.places, { now: () => nowMs });
  return { code: await prune(options, world.context), out: world.out(), err: world.err() };
}

/** Further sessions that end at the same time, each with some content. */
function addOld(of: Replay, count: number, endMs: number): readonly number[] {
  const db = openDatabase(of.places.storePath);
  const ids = Array.from({ length: count }, (_, n) => ensureSession(db, "claude-code", `old-${n}`, endMs).id);
  for (const id of ids) {
    db.prepare("INSERT INTO segments VALUES (?, 0, 0, 1, 'completed', NULL, NULL, 1, '{}', 1, NULL)").run(id);
    db.prepare("INSERT INTO entries VALUES (?, 'a', 'note', 0, ?, 1)").run(id, `"${"x".repeat(50_000)}"`);
  }
  db.close();
  return ids;
}

/** As an import stores them. */
function pack(db: Database, ids: readonly number[]): void {
  const packed = { facts: encodeFacts([]), owned: new Float64Array(), segments: [], usage: [], tools: [], turns: [] };
  db.transaction(() =>
    putPacked(
      db,
      ids.map((id) => ({ id, packed, readBy: undefined })),
    ),
  );
}

async function listed(of: Replay): Promise<number> {
  const world = contextAt(of.places);
  await sessions({ limit: 10, json: true }, world.context);
  return JSON.parse(world.out()).sessions?.length ?? JSON.parse(world.out()).length;
}

describe("prune", () => {
  test("removes what is old enough, and reports what it did", async () => {
    const { of, endMs } = await collected();
    expect(await listed(of)).toBe(1);
    const young = await run(of, LATER, endMs + 89 * DAY_MS);
    expect(young.out).toMatch(/^0 sessions removed from the store\n/);
    expect(await listed(of)).toBe(1);
    const old = await run(of, LATER, endMs + 91 * DAY_MS);
    expect(old).toMatchObject({ code: 0, err: "" });
    expect(old.out).toMatch(/^1 session removed from the store\nstore size: \d+\.\d MB, before \d+\.\d MB\n$/);
    expect(await listed(of)).toBe(0);
  });

  test("removes nothing with --dry-run, and reports what it would remove", async () => {
    const { of, endMs } = await collected();
    const result = await run(of, { ...LATER, dryRun: true }, endMs + 91 * DAY_MS);
    expect(result.out).toMatch(
      /^Dry run: 1 session would be removed, the oldest from \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\nstore size: /,
    );
    const json = await run(of, { ...LATER, dryRun: true, json: true }, endMs + 91 * DAY_MS);
    expect(JSON.parse(json.out)).toMatchObject({ dry_run: true, sessions: 1, kept: 0 });
    expect(await listed(of)).toBe(1);
  });

  test("keeps and reports queued spans", async () => {
    const { of, endMs } = await collected(false);
    const result = await run(of, { ...LATER, olderThan: "1d" }, endMs + 2 * DAY_MS);
    expect(result.out).toMatch(
      /^0 sessions removed from the store; 1 session of that age stays: not sent yet, or not ended\n/,
    );
    expect(await listed(of)).toBe(1);
  });

  test("removes old quarantined payloads only if requested", async () => {
    const { of, endMs } = await collected();
    const { quarantineDir } = of.places;
    mkdirSync(quarantineDir, { recursive: true });
    for (const [name, ageDays] of [
      ["old.evt", 100],
      ["new.evt", 1],
    ] as const) {
      writeFileSync(join(quarantineDir, name), "openhook-inbox 1\n\n{}");
      writeFileSync(join(quarantineDir, `${name}.reason`), '{"reason":"no agent recognises it"}\n');
      const time = new Date(endMs + 100 * DAY_MS - ageDays * DAY_MS);
      utimesSync(join(quarantineDir, `${name}.reason`), time, time);
    }
    await run(of, LATER, endMs + 100 * DAY_MS);
    expect(readdirSync(quarantineDir)).toHaveLength(4);
    const dry = { ...LATER, quarantine: true, dryRun: true };
    const shown = await run(of, dry, endMs + 100 * DAY_MS);
    expect(shown.out).toContain("1 quarantined payload would be removed\n");
    expect(JSON.parse((await run(of, { ...dry, json: true }, endMs + 100 * DAY_MS)).out)).toMatchObject({
      quarantined: 1,
    });
    expect(readdirSync(quarantineDir)).toHaveLength(4);
    const result = await run(of, { ...LATER, quarantine: true, json: true }, endMs + 100 * DAY_MS);
    expect(JSON.parse(result.out)).toMatchObject({ quarantined: 1 });
    expect(readdirSync(quarantineDir).sort()).toEqual(["new.evt", "new.evt.reason"]);
  });

  test.each(["", "90", "90 days", "-1d", "1y"])("rejects %j as an age", async (olderThan) => {
    replay = new Replay("claude-code", "basic");
    await expect(run(replay, { ...LATER, olderThan }, 0)).rejects.toThrow(/--older-than takes an age like 90d/);
  });

  test.each([
    ["collected", false],
    ["imported", true],
  ])("interrupted, e.g. by a full disk, it has released the space of what it removed: %s", async (_, isImported) => {
    const { of, endMs } = await collected();
    const ids = addOld(of, 60, endMs);
    const db = openDatabase(of.places.storePath);
    if (isImported) pack(db, ids);
    db.prepare(
      `CREATE TRIGGER full BEFORE UPDATE OF pruned_ms ON sessions WHEN new.id = ${ids.at(-1)}
       BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`,
    ).run();
    checkpoint(db);
    const before = statSync(of.places.storePath).size;
    db.close();
    // Newer than what drains remove themselves
    const stopped = await run(of, { ...LATER, olderThan: "30d" }, endMs + 31 * DAY_MS);
    expect(stopped).toMatchObject({ code: 1, out: "" });
    expect(stopped.err).toContain("disk is full");
    expect(statSync(of.places.storePath).size).toBeLessThan(before / 2);
    const after = openDatabase(of.places.storePath);
    const left = after.prepare("SELECT count(*) AS n FROM sessions WHERE pruned_ms IS NULL").get();
    after.close();
    expect(left).toMatchObject({ n: 1 });
  });

  test("shows progress on a terminal, and none in a pipe", async () => {
    for (const isTTY of [true, false]) {
      const { of, endMs } = await collected();
      addOld(of, 60, endMs);
      const { context, out, err } = contextAt(of.places, { now: () => endMs + 31 * DAY_MS });
      const shown: string[] = [];
      const stderr = { ...context.stderr, isTTY, columns: 80, rewrite: (text: string) => shown.push(text) };
      expect(await prune({ ...LATER, olderThan: "30d" }, { ...context, stderr })).toBe(0);
      expect(out()).toMatch(/^61 sessions removed from the store\n/);
      expect(err()).toBe("");
      if (!isTTY) expect(shown).toEqual([]);
      else {
        expect(shown[0]).toContain(" 50 of 61 sessions removed");
        expect(shown.at(-1)).toBe("");
      }
      of.remove();
    }
  });

  test("creates no store", async () => {
    replay = new Replay("claude-code", "basic");
    expect(await run(replay, LATER, 0)).toMatchObject({ code: 0, out: "no store yet\n" });
    expect(existsSync(replay.places.storePath)).toBe(false);
  });
});

test("a drain prunes once a day", async () => {
  const { of, endMs } = await collected();
  await of.drain({}, clockAt(endMs + 88.9 * DAY_MS));
  await of.drain({}, clockAt(endMs + 89 * DAY_MS));
  expect(await listed(of)).toBe(1);
  await of.drain({}, clockAt(endMs + 89.5 * DAY_MS));
  const db = openDatabase(of.places.storePath);
  expect(Number(db.prepare("SELECT value FROM meta WHERE key = 'prune.last_ms'").get()?.["value"])).toBe(
    endMs + 89 * DAY_MS,
  );
  db.close();
  await of.drain({}, clockAt(endMs + 91 * DAY_MS));
  expect(await listed(of)).toBe(0);
});

test("neither a clock that jumps years ahead nor the first drain after months removes anything", async () => {
  const { of, endMs } = await collected();
  await of.drain({}, clockAt(endMs + 4000 * DAY_MS));
  await of.drain({}, clockAt(endMs + DAY_MS));
  await of.drain({}, clockAt(endMs + 120 * DAY_MS));
  expect(await listed(of)).toBe(1);
  await of.drain({}, clockAt(endMs + 121 * DAY_MS));
  expect(await listed(of)).toBe(0);
});

test.each([
  ["a file that is not valid", "{ x"],
  ["a number as a text", '{ "store": { "retentionDays": "4000" }, "outbox": { "maxAgeDays": "4000" } }'],
  ["no groups", '{ "store": 4000, "outbox": 4000 }'],
])("%s: no default removes data that the user may want to keep", async (_, text) => {
  const { of, endMs } = await collected(false);
  mkdirSync(dirname(of.places.configPath), { recursive: true });
  writeFileSync(of.places.configPath, text);
  const spans = queued(of);
  expect(spans).toBeGreaterThan(0);
  for (const days of [88.9, 89, 91, 92]) await of.drain({}, clockAt(endMs + days * DAY_MS));
  expect(await listed(of)).toBe(1);
  expect(queued(of)).toBe(spans);
  await expect(run(of, { quarantine: false, dryRun: false, json: false }, endMs + 92 * DAY_MS)).rejects.toThrow(
    "--older-than",
  );
  writeFileSync(of.places.configPath, "{}");
  for (const days of [93, 94, 95]) await of.drain({}, clockAt(endMs + days * DAY_MS));
  expect(await listed(of)).toBe(0);
});

function queued(of: Replay): number {
  const db = openDatabase(of.places.storePath);
  const spans = queuedCount(db);
  db.close();
  return spans;
}
