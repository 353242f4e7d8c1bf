import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { usePrices } from "#config/own-prices.ts";
import { setOwnPrices } from "#core/rules/price.ts";
import type { Database } from "#store/database.ts";
import { readStore } from "#store/read-only.ts";
import { importInto } from "../import/run.ts";
import { Replay } from "../support/replay.ts";

const LISTED = "claude-sonnet-4-5-20250929";
const NEW = "claude-sonnet-5-9";
const RATES = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1, cacheWrite1h: 1 };

let dir: string;
let replay: Replay;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "openhook-fill-"));
  replay = new Replay("claude-code", "basic", { edit: (text) => text.replaceAll(/claude-[a-z]+-4-\d(-\d{8})?/g, NEW) });
});
afterEach(() => {
  setOwnPrices(undefined);
  replay.remove();
  rmSync(dir, { recursive: true, force: true });
});

async function learn(rate: number): Promise<void> {
  const rates = Object.fromEntries(Object.keys(RATES).map((kind) => [kind, rate]));
  const path = join(dir, "prices.json");
  writeFileSync(path, JSON.stringify({ source: "test", models: { [NEW]: rates, [LISTED]: rates } }));
  expect(await usePrices(path)).toBeUndefined();
}

const ask = <T>(of: (db: Database) => T): T => readStore(replay.places.storePath, of) as T;
const sums = () =>
  ask((db) => {
    const row = db
      .prepare(
        "SELECT sum(calls) AS calls, sum(unpriced) AS unpriced, sum(cost_nano_usd) AS cost, sum(input) + sum(output) AS tokens FROM usage",
      )
      .get();
    const totals = db
      .prepare(
        "SELECT sum(totals ->> 'costNanoUsd') AS cost, sum(totals ->> 'unpricedCalls') AS unpriced FROM segments",
      )
      .get();
    return { calls: row?.["calls"], unpriced: row?.["unpriced"], cost: row?.["cost"], tokens: row?.["tokens"], totals };
  });
const counted = (metric: string) =>
  ask((db) => db.prepare("SELECT sum(value - owed) AS n FROM counters WHERE metric = ?").get(metric)?.["n"] ?? 0);

/** Puts the session into the store without a price. */
async function unpriced(way: string): Promise<void> {
  if (way === "import") return void (await importInto(replay, "claude-code"));
  for (const call of replay.calls) replay.put(call);
  await replay.drain({ isEager: true, endIdle: true });
}

describe.each(["hooks", "import"])("a price that is learnt after the call, from %s", (way) => {
  test("is filled in by the next drain or import, once; then it stays", async () => {
    await unpriced(way);
    const before = sums();
    expect(before).toMatchObject({ cost: null, unpriced: before.calls });

    await learn(1);
    await (way === "import" ? importInto(replay, "claude-code") : replay.drain({}));
    const cost = Number(before.tokens) * 1_000;
    const filled = { calls: before.calls, unpriced: 0, cost, totals: { cost, unpriced: 0 } };
    expect(sums()).toMatchObject(filled);
    if (way === "hooks") {
      expect(counted("openhook.cost.usage")).toBe(cost);
      expect(counted("openhook.cost.unpriced.count")).toBe(0);
    }

    // Other prices, tried again and again
    await learn(7);
    await replay.drain({});
    await importInto(replay, "claude-code", { again: true });
    await replay.drain({});
    expect(sums()).toMatchObject(filled);
    if (way === "hooks") expect(counted("openhook.cost.usage")).toBe(cost);
  });

  test("is not looked up while prices are the same or cannot be read", async () => {
    await unpriced(way);
    await replay.drain({});
    const tried = () => ask((db) => db.prepare("SELECT value FROM meta WHERE key = 'prices.tried'").get()?.["value"]);
    const before = tried();
    expect(before).toMatch(/^genai-prices\//);
    setOwnPrices("unreadable");
    await replay.drain({});
    expect(tried()).toBe(before);
    await learn(1);
    await replay.drain({});
    expect(tried()).not.toBe(before);
  });
});
