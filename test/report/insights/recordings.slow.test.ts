// Slow: only `npm run test:all` runs it. Insights over each recording; insights.test.ts has the rules.
// Insights over recorded sessions of every agent: the same after hooks and after an import, never more than the total, all of it readable.
import { afterEach, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { insights } from "#show/report/insights/insights.ts";
import { insightsJson } from "#show/report/insights/insights-json.ts";
import { usage } from "#show/report/usage.ts";
import { openDatabase } from "#store/database.ts";
import { recordedCases, recordedHome } from "../../import/home.ts";
import { importInto } from "../../import/run.ts";
import { clockAt } from "../../support/clock.ts";
import type { Replay } from "../../support/replay.ts";
import { firstRecordings } from "../../support/whole.ts";

const agents = await allAgents();
const RANGE = { sinceMs: 0, untilMs: Date.UTC(2100, 0) };
let replay: Replay | undefined;
afterEach(() => replay?.remove());

test.each(firstRecordings(await recordedCases()))("$source $name", async (of) => {
  const home = await recordedHome(of);
  replay = home.replay;
  await importInto(replay, of.source);
  const imported = found(replay);
  // The files now belong to sessions that hooks report
  for (const call of home.calls) replay.put(call);
  await replay.drain({ endIdle: true }, clockAt(Math.max(...home.calls.map((call) => Date.parse(call.received_at)))));
  const hooked = found(replay);
  for (const { json, total } of [imported, hooked]) {
    expect(json.total_cost_usd).toEqual(total);
    expect(json.sessions_read).toBeGreaterThanOrEqual(json.sessions);
    for (const one of json.insights) {
      expect(one.cost_usd ?? 0, one.rule).toBeLessThanOrEqual((total ?? 0) + 1e-9);
      expect(one.text).not.toMatch(/undefined|NaN|null/);
    }
  }
});

function found({ places: { storePath } }: Replay) {
  const db = openDatabase(storePath);
  try {
    const report = insights(db, { agents, settings: { semconv: "latest", traceScope: "session" } }, RANGE);
    const [row] = usage(db, { agents }, { by: [] });
    const cost = row?.calls?.costNanoUsd;
    return { json: insightsJson(report, 10), total: cost === undefined ? null : cost / 1e9 };
  } finally {
    db.close();
  }
}
