import { expect, test } from "vitest";
import { costSeries, fromFirstUse, tokenSeries } from "#show/view/page/usage/series.ts";
import type { UsageDocument, UsageFigures } from "#show/view/wire/documents.ts";

const figures = { input: 3, output: 2, cache_read: 1, cache_write: null } as UsageFigures;
const usage = {
  split: "model",
  buckets: ["2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04"],
  bucketFigures: [null, figures, null, figures],
  groups: [{ name: "m", figures: { cost_usd: 5 }, costUsd: [0, 2, 0, 3] }],
} as unknown as UsageDocument;

test("charts begin with the first use, and keep empty days after it", () => {
  const used = fromFirstUse(usage);
  expect(used.buckets).toEqual(["2026-11-02", "2026-11-03", "2026-11-04"]);
  expect(costSeries(used).map(({ values }) => values)).toEqual([[2, 0, 3]]);
  expect(tokenSeries(used, false).map(({ values }) => values)).toEqual([
    [0, 0, 0],
    [2, 0, 2],
    [2, 0, 2],
  ]);
});

test("charts without any use keep all days", () => {
  expect(fromFirstUse({ ...usage, bucketFigures: [null, null, null, null] })).toEqual({
    ...usage,
    bucketFigures: [null, null, null, null],
  });
});
