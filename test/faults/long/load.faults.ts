// The guaranteed load: 10,000 hook calls of 16 agents' sessions in parallel, with drains all the time.
import { afterAll, beforeAll, expect, test } from "vitest";
import { startReceiver } from "../../receiver/receiver.ts";
import { ensureBuilt, Machine } from "../../support/program.ts";
import { countersAndRows } from "../../support/summary.ts";
import { CAT, contentsOf, Drains, eventsIn, installHook, lanesOf, play, putAll, share } from "../load.ts";
import { record } from "../record.ts";

const CALLS = 10_000;
const LANES = 16;

beforeAll(ensureBuilt, 120_000);
const machines: Machine[] = [];
const machine = (): Machine => {
  const made = new Machine();
  machines.push(made);
  return made;
};
afterAll(async () => {
  for (const one of machines) await one.remove();
});

test(`${CALLS} hook calls from ${LANES} agents at once, drains without a pause`, { timeout: 400_000 }, async () => {
  const [busy, quiet, alone, receiver] = [machine(), machine(), machine(), await startReceiver()];
  try {
    const lanes = await lanesOf(CALLS, LANES);
    const env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };

    // The limit of the generator itself, and the cost of a hook without other load
    const generator = await play(alone, await lanesOf(800, LANES), CAT);
    const idle = await play(alone, (await lanesOf(300, 1)).map(withoutDrains), installHook(alone));

    const drains = new Drains(busy, env);
    const load = await play(busy, lanes, installHook(busy));
    const lastCallMs = Date.now();
    await drains.stop();
    await busy.quiet();
    await busy.drain([], env);
    const emptyAfterMs = Date.now() - lastCallMs;
    expect(load).toMatchObject({ calls: CALLS, printed: "" });
    await busy.drain(["--end-idle"], env);

    putAll(quiet, lanes);
    await quiet.drain(["--end-idle"]);
    const [got, wanted] = [eventsIn(busy.places.storePath), eventsIn(quiet.places.storePath)];
    const lost = wanted.filter((line) => !got.includes(line)).length;
    expect(got).toEqual(wanted);
    const [found, undisturbed] = [contentsOf(busy.places.storePath), contentsOf(quiet.places.storePath)];
    expect(found.size).toBe(undisturbed.size);
    for (const [session, totals] of undisturbed) expect(found.get(session), session).toEqual(totals);
    const totals = countersAndRows(busy.places.storePath);
    expect(totals.counters).toEqual(totals.rows);
    expect(totals.counters).toEqual(countersAndRows(quiet.places.storePath).counters);
    const ids = receiver.spans.map(({ spanId }) => spanId);
    const duplicates = ids.length - new Set(ids).size;
    expect(duplicates).toBe(0);

    const lagsMs = [...drains.lagsMs].sort((a, b) => a - b);
    record({
      area: "load",
      fault: `${LANES} concurrent agents, with drains running continuously`,
      runs: 1,
      eventsIn: CALLS,
      lost,
      duplicates,
      recoveryMs: emptyAfterMs,
      note: "recorded sessions of every agent; generator: node processes that spawn the hook, on the same cores",
      figures: {
        sessionsAtOnce: LANES,
        sessions: found.size,
        drains: drains.count,
        callsPerSecond: load.callsPerSecond,
        p50Ms: load.p50Ms,
        p99Ms: load.p99Ms,
        maxMs: load.maxMs,
        idleP50Ms: idle.p50Ms,
        idleP99Ms: idle.p99Ms,
        generatorCallsPerSecond: generator.callsPerSecond,
        drainLagP50Ms: share(lagsMs, 0.5),
        drainLagMaxMs: share(lagsMs, 1),
        deepestInbox: Math.max(...drains.depths),
      },
    });
  } finally {
    await receiver.close();
  }
});

const withoutDrains = <T extends { readonly drains: boolean }>(lane: readonly T[]): readonly T[] =>
  lane.map((call) => ({ ...call, drains: false }));
