import { expect, test } from "vitest";
import { sumOfCalls } from "#core/rules/call-sums.ts";
import { inReadingOrder } from "#show/report/text/usage-keys.ts";
import type { UsageRow } from "#show/report/usage-rows.ts";

const row = (repository: string, week: string, costNanoUsd: number): UsageRow => ({
  key: { repository, week },
  sessions: 1,
  agentsWithoutUsage: [],
  sessionsWithoutUsage: 0,
  calls: { ...sumOfCalls([]), modelCalls: 1, costNanoUsd, modelMs: 0 },
});

const rows = [
  row("api", "2026-W40", 3),
  row("api", "2026-W41", 1),
  row("web", "2026-W40", 5),
  row("web", "2026-W41", 2),
];
const keys = (by: Parameters<typeof inReadingOrder>[0]) =>
  inReadingOrder(by, rows).map(({ key }) => `${key.repository} ${key.week?.slice(-3)}`);

test("rows are sorted by the first key: the largest group first, its times in order", () => {
  expect(keys(["repository", "week"])).toEqual(["web W40", "web W41", "api W40", "api W41"]);
  expect(keys(["week", "repository"])).toEqual(["web W40", "api W40", "web W41", "api W41"]);
});
