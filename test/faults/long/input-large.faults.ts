// Transcripts of a gigabyte: bounded memory, what was read stays read, other sessions are not delayed.
import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { readStore } from "#store/read-only.ts";
import { type Run, watchedDrain, writeLongLine, writeTurns } from "../input-large.ts";
import { InputWorld } from "../input-world.ts";
import { record } from "../record.ts";

const MAX_OVER_EMPTY_MIB = 150;
const GIGABYTE = 1_000_000_000;

let emptyMib = 0;
beforeAll(async () => {
  const empty = new InputWorld();
  await watchedDrain(empty);
  emptyMib = (await watchedDrain(empty)).peakMib;
  empty.remove();
}, 120_000);

let world: InputWorld;
beforeEach(() => {
  world = new InputWorld();
});
afterEach(() => world.remove());

const pathOf = (sessionId: string): string => join(world.home, ".claude", "projects", "p", `${sessionId}.jsonl`);

function end(source: string, sessionId: string, path: string): void {
  const payload = { openhook: "0.1", id: `end-${sessionId}`, type: "session.end", time: new Date().toISOString() };
  const data = { transcript_path: path };
  world.put(source, "session.end", JSON.stringify({ ...payload, source, session_id: sessionId, data }));
}

const tokensOf = (sessionId: string): number =>
  Number(
    world.rows(
      "SELECT sum(m.input) AS n FROM model_calls m JOIN sessions s ON s.id = m.session WHERE s.session_id = ?",
      sessionId,
    )[0]?.["n"] ?? 0,
  );

const counted = (): number =>
  Number(
    world.rows("SELECT sum(value) AS n FROM counters WHERE metric = 'gen_ai.client.inference.usage.input_tokens'")[0]?.[
      "n"
    ] ?? 0,
  );

const unreadable = (): number => Number(world.rows("SELECT sum(unreadable) AS n FROM positions")[0]?.["n"] ?? 0);

function expectBounded({ code, peakMib }: Run): void {
  expect(code).toBe(0);
  expect(peakMib - emptyMib).toBeLessThanOrEqual(MAX_OVER_EMPTY_MIB);
}

const figures = (...runs: readonly Run[]) => ({
  peakMibOverEmpty: Math.round(Math.max(...runs.map((run) => run.peakMib)) - emptyMib),
  seconds: Math.round(runs.reduce((ms, run) => ms + run.tookMs, 0) / 100) / 10,
});

test("1 GB in one session, killed while it is read: continued, not restarted", async () => {
  const turns = 10_000;
  writeTurns(pathOf("large"), "large", turns, GIGABYTE / turns);
  writeTurns(pathOf("small"), "small", 2, 10);
  end("claude-code", "large", pathOf("large"));
  end("claude-code", "small", pathOf("small"));
  const readBytes = (): number =>
    readStore(world.places.storePath, (db) =>
      Number(db.prepare("SELECT max(bytes) AS n FROM positions").get()?.["n"]),
    ) ?? 0;
  const openEntries = (): number =>
    readStore(world.places.storePath, (db) =>
      Number(db.prepare("SELECT count(*) AS n FROM entries WHERE settled = 0").get()?.["n"]),
    ) ?? 0;
  // A slice is read and not settled: the next drain must not settle it together with another slice
  const killed = await watchedDrain(world, () => openEntries() > 3_000);
  const before = readBytes();
  const open = openEntries();
  const run = await watchedDrain(world);
  expectBounded(run);
  expect(open).toBeGreaterThan(3_000);
  expect(killed.signal).toBe("SIGKILL");
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(GIGABYTE);
  expect(tokensOf("large")).toBe(7 * turns);
  // The answers of `small` have the same ids: they are copies and count nothing
  expect(counted()).toBe(7 * turns);
  record({
    area: "input",
    fault: "a transcript of 1 GB, SIGKILL while it is read",
    runs: 1,
    eventsIn: turns,
    lost: 0,
    duplicates: 0,
    figures: { ...figures(killed, run), readBeforeTheKillMb: Math.round(before / 1e6) },
  });
});

test("one line of 500 MB: skipped and counted", async () => {
  writeTurns(pathOf("s"), "s", 3, 10);
  writeLongLine(pathOf("s"), 500_000_000);
  const rest = join(world.home, "rest.jsonl");
  writeTurns(rest, "s", 1, 10);
  writeTurns(pathOf("s"), "s", 4, 10);
  rmSync(rest);
  end("claude-code", "s", pathOf("s"));
  const run = await watchedDrain(world);
  expectBounded(run);
  expect(tokensOf("s")).toBe(7 * 4);
  expect(unreadable()).toBe(1);
  record({ area: "input", fault: "one line of 500 MB", runs: 1, lost: 0, figures: figures(run) });
});

test("a million small lines, and lines just below the limit", async () => {
  mkdirSync(dirname(pathOf("s")), { recursive: true });
  const file = openSync(pathOf("s"), "a");
  const small = '{"type":"progress","data":1}\n'.repeat(10_000);
  for (let i = 0; i < 100; i++) writeSync(file, small);
  closeSync(file);
  for (let i = 0; i < 3; i++) writeLongLine(pathOf("s"), 31_000_000);
  writeTurns(pathOf("s"), "s", 3, 10);
  end("claude-code", "s", pathOf("s"));
  const run = await watchedDrain(world);
  expectBounded(run);
  expect(tokensOf("s")).toBe(21);
  record({
    area: "input",
    fault: "a million small lines, and three of 31 MB",
    runs: 1,
    lost: 0,
    figures: figures(run),
  });
});

test("one JSON file of 1 GB, for agents that write such sessions: refused and reported", async () => {
  const files = {
    cline: join(world.home, ".cline", "data", "sessions", "s-1", "s-1.messages.json"),
    "gemini-cli": join(world.home, ".gemini", "tmp", "p", "chats", "session-2026-11-21T08-00-s2s2s2s2.json"),
    kiro: join(world.home, ".kiro", "sessions", "cli", "s-3.json"),
  };
  const ids = { cline: "s-1", "gemini-cli": "s2s2s2s2-1", kiro: "s-3" };
  for (const [source, path] of Object.entries(files)) {
    const id = ids[source as keyof typeof ids];
    mkdirSync(dirname(path), { recursive: true });
    const file = openSync(path, "w");
    writeSync(file, `{"sessionId":"${id}","session_id":"${id}","startTime":"2026-11-21T08:00:00Z","messages":[`);
    ftruncateSync(file, GIGABYTE);
    closeSync(file);
    end(source, id, path);
  }
  const run = await watchedDrain(world);
  expectBounded(run);
  const problems = String(JSON.parse(run.stdout).problems);
  for (const path of Object.values(files)) expect(problems).toContain(path);
  expect(problems).toMatch(/has 1000000000 bytes; one file of more than/);
  record({ area: "input", fault: "one JSON file of 1 GB", runs: 3, lost: 0, figures: figures(run) });
});
