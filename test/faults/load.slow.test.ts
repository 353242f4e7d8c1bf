// Slow: only `npm run test:all` runs it. Many sessions at once; drain/replays.slow.test.ts has two.
//
// Sixteen agents at the same time through the real hook, while real drains run. The long form has 10,000 calls: load.faults.ts.
import { beforeAll, expect, test } from "vitest";
import { startReceiver } from "../receiver/receiver.ts";
import { ensureBuilt, Machine, until } from "../support/program.ts";
import { countersAndRows } from "../support/summary.ts";
import { contentsOf, Drains, eventsIn, installHook, lanesOf, play, putAll } from "./load.ts";

beforeAll(ensureBuilt);

test("400 hook calls of 16 agents at once while drains run: every event arrives once", async () => {
  const [machine, quiet, receiver] = [new Machine(), new Machine(), await startReceiver()];
  try {
    const lanes = await lanesOf(400, 16);
    expect(lanes.flat()).toHaveLength(400);
    expect(new Set(lanes.flat().map(({ source }) => source)).size).toBeGreaterThanOrEqual(6);
    const env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
    const drains = new Drains(machine, env);
    const load = await play(machine, lanes, installHook(machine));
    await drains.stop();
    await machine.quiet();
    expect(load).toMatchObject({ calls: 400, printed: "" });
    await machine.drain(["--end-idle"], env);

    putAll(quiet, lanes);
    await quiet.drain(["--end-idle"]);
    expect(eventsIn(machine.places.storePath)).toEqual(eventsIn(quiet.places.storePath));
    expect(contentsOf(machine.places.storePath)).toEqual(contentsOf(quiet.places.storePath));
    const totals = countersAndRows(machine.places.storePath);
    expect(totals.counters).toEqual(totals.rows);
    expect(totals.counters).toEqual(countersAndRows(quiet.places.storePath).counters);
    const ids = receiver.spans.map(({ spanId }) => spanId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(drains.count).toBeGreaterThan(0);
  } finally {
    await until("drains have ended", () => machine.running().length === 0);
    await machine.remove();
    await quiet.remove();
    await receiver.close();
  }
});
