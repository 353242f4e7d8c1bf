import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { count, counterValues } from "../../src/store/counters.ts";
import { instanceId } from "../../src/store/instance.ts";
import { addToMeta, metaOnce, readMeta } from "../../src/store/meta.ts";
import { METRIC_SHAPES } from "../../src/telemetry/metrics.ts";
import { temporaryStores } from "./temporary.ts";

const stores = temporaryStores();
const HOME = { home: "/home/dev" };
const TURN = {
  key: "turn-1",
  increments: [
    { metric: "openhook.turn.count", amount: 1, attributes: {}, resource: { "service.name": "claude-code" } },
  ],
};

test("one id for ever, a random one", () => {
  const db = stores.open();
  const id = instanceId(db, HOME);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(instanceId(db, HOME)).toBe(id);
  expect(instanceId(stores.open(), HOME)).toBe(id);
  expect(instanceId(stores.open(join(stores.folder(), "another.db")), HOME)).not.toBe(id);
});

test("a copy in another place is another instance, and counts from zero", () => {
  const db = stores.open();
  const id = instanceId(db, HOME);
  count(db, [TURN], METRIC_SHAPES, Date.UTC(2026, 9, 5));
  db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
  const path = join(stores.folder(), "copy.db");
  copyFileSync(stores.path(), path);
  const copy = stores.open(path);
  expect(counterValues(copy).length).toBe(1);
  expect(instanceId(copy, { home: "/home/other" })).not.toBe(id);
  expect(counterValues(copy)).toEqual([]);
  // What was counted there is not counted here again
  expect(count(copy, [TURN], METRIC_SHAPES, Date.UTC(2026, 9, 6))).toBe(0);
  expect(counterValues(db).length).toBe(1);
});

test("notes", () => {
  const db = stores.open();
  expect(readMeta(db, "harvest")).toBeUndefined();
  expect([metaOnce(db, "harvest", () => "apples"), metaOnce(db, "harvest", () => "pears")]).toEqual([
    "apples",
    "apples",
  ]);
  for (const amount of [2, 0, 3]) addToMeta(db, "baskets", amount);
  expect(readMeta(db, "baskets")).toBe("5");
});
