import { expect, test } from "vitest";
import { type Column, table } from "#kit/text/table.ts";

interface Row {
  readonly id: string;
  readonly cost: string;
  readonly title: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: "id", rank: 3, cell: ({ id }) => id },
  { title: "cost", rank: 1, align: "right", cell: ({ cost }) => cost },
  { title: "title", rank: 2, shrinkTo: 24, atLeast: 14, cell: ({ title }) => title },
];
const ROWS: readonly Row[] = [{ id: "1f3a9c20", cost: "$0.42", title: "Find where the price is computed in the shop" }];
const shownIn = (columns: number): readonly string[] =>
  [...table(COLUMNS, ROWS, { columns, colour: false })].map((line) => line.trimEnd());

test("a column shrinks before another one is dropped", () => {
  expect(shownIn(41)).toEqual(["id         cost  title", "1f3a9c20  $0.42  Find where the price is…"]);
});

test("it shrinks further only before it would be dropped itself", () => {
  expect(shownIn(40)).toEqual(["id        title", "1f3a9c20  Find where the price is compu…"]);
  expect(shownIn(25)).toEqual(["id        title", "1f3a9c20  Find where the…"]);
  expect(shownIn(24)).toEqual(["id        title", "1f3a9c20  Find where th…"]);
  expect(shownIn(23)).toEqual(["id", "1f3a9c20"]);
});
