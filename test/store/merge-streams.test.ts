import { expect, test } from "vitest";
import type { Attributes, MetricShape } from "#core/model/telemetry.ts";
import { MAX_OVERFLOW_SERIES, MAX_SERIES } from "#store/cardinality.ts";
import { counterValues, countFacts } from "#store/counters.ts";
import type { Database } from "#store/database.ts";
import { changeInstance } from "#store/instance.ts";
import { mergeStreams } from "#store/merge-streams.ts";
import { markSent, pendingStreams } from "#store/pending-streams.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";
import { temporaryStores } from "./temporary.ts";

const stores = temporaryStores();
const NOW_MS = Date.UTC(2026, 9, 5, 12);
const CRATES: MetricShape = { name: "crates", unit: "{crate}", description: "Crates", type: "counter", value: "int" };
const WEIGHT: MetricShape = {
  name: "weight",
  unit: "g",
  description: "Weight",
  type: "histogram",
  value: "double",
  bounds: [100, 200],
};
const SHAPES = new Map([CRATES, WEIGHT].map((shape) => [shape.name, shape]));
let facts = 0;

/** Counts `amount` crates of a sort, and one weight of 150 g. */
function pick(db: Database, sort: string, amount: number): void {
  const of = { attributes: { sort }, resource: { "service.name": "claude-code" } };
  const increments = [
    { metric: CRATES.name, amount, ...of },
    { metric: WEIGHT.name, amount: 150, ...of },
  ];
  countFacts(db, [{ key: `fact-${facts++}`, increments }], SHAPES, NOW_MS);
}
const deliverAll = (db: Database): void => markSent(db, pendingStreams(db, SHAPES, "cumulative", NOW_MS + 1));
function sums(db: Database): Readonly<Record<string, number>> {
  const sum = (name: string): number =>
    counterValues(db)
      .filter(({ metric }) => metric === name)
      .reduce((total, { value }) => total + value, 0);
  return { crates: sum(CRATES.name), weight: sum(WEIGHT.name) };
}

test("a machine with a new id loses nothing of a metric that has no room for more series", () => {
  const db = stores.open();
  const increments = Array.from({ length: MAX_SERIES + 100 }, (_, i) => ({
    metric: CRATES.name,
    amount: 5,
    attributes: { sort: `sort-${i}` },
    resource: { "service.name": `agent-${i % (MAX_OVERFLOW_SERIES + 5)}` },
  }));
  countFacts(db, [{ key: `fact-${facts++}`, increments }], SHAPES, NOW_MS);
  const before = sums(db);
  expect(before["crates"]).toBe(5 * (MAX_SERIES + 100));
  const place = { home: "/home/dev", stateDir: stores.folder() };
  const change = () => db.transaction(() => changeInstance(db, place, SHAPES, NOW_MS + 2));
  change();
  expect(sums(db)).toEqual(before);
  deliverAll(db);
  pick(db, "sort-7", 2);
  pick(db, "sort-no-room", 3);
  change();
  expect(sums(db)).toEqual({ crates: 5, weight: 2 });
});

test("the merged stream owes what was counted too often", () => {
  const db = stores.open();
  pick(db, "apple", 5);
  deliverAll(db);
  pick(db, "apple", -2);
  db.transaction(() => mergeStreams(db, SHAPES, NOW_MS + 2, () => ({ sort: "fruit" })));
  pick(db, "fruit", 3);
  expect(sums(db)["crates"]).toBe(1);
});

test("whichever names become equal, in any order: all unsent amounts are kept", () => {
  const SORTS = ["apple", "pear", "plum", "quince", "medlar"];
  fc.assert(
    fc.property(
      fc.array(fc.record({ sort: fc.constantFrom(...SORTS), amount: fc.integer({ min: 1, max: 50 }) })),
      fc.array(fc.record({ sort: fc.constantFrom(...SORTS), amount: fc.integer({ min: 1, max: 50 }) })),
      fc.dictionary(fc.constantFrom(...SORTS), fc.constantFrom(...SORTS, "anything")),
      (steps, after, names) => {
        const db = stores.open(`${stores.folder()}/fold-${facts++}.db`);
        for (const { sort, amount } of steps) pick(db, sort, amount);
        deliverAll(db);
        for (const { sort, amount } of after) pick(db, sort, amount);
        const change = (attributes: Attributes): Attributes => {
          const name = names[String(attributes["sort"])];
          return name === undefined ? attributes : { sort: name };
        };
        db.transaction(() => mergeStreams(db, SHAPES, NOW_MS + 2, ({ attributes }) => change(attributes)));

        // Amounts that were sent are not moved from a removed stream to the merged one
        const left = [...steps.filter(({ sort }) => names[sort] === undefined), ...after];
        expect(sums(db)).toEqual({
          crates: left.reduce((sum, { amount }) => sum + amount, 0),
          weight: left.length,
        });
        const bySort = new Map<string, number>();
        for (const { sort, amount } of steps) {
          if (names[sort] === undefined) bySort.set(sort, (bySort.get(sort) ?? 0) + amount);
        }
        for (const { sort, amount } of after) {
          const name = names[sort] ?? sort;
          bySort.set(name, (bySort.get(name) ?? 0) + amount);
        }
        const found = counterValues(db).filter(({ metric }) => metric === CRATES.name);
        expect(new Map(found.map(({ attributes, value }) => [attributes["sort"], value]))).toEqual(bySort);
      },
    ),
    { numRuns: runs(60) },
  );
});
