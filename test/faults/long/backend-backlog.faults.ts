// After an outage: 100,000 queued spans, and limits of the queue.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ensureBuilt, until } from "../../support/program.ts";
import { withSession } from "../backend-run.ts";
import { type Counter, drainMeasured, fillOutbox, startCounter } from "../backlog.ts";
import { record } from "../record.ts";

const BACKLOG = 100_000;
/** Memory that a drain may need in addition to one without work. */
const MAX_GROWTH_MIB = 150;

beforeAll(ensureBuilt, 120_000);

let counter: Counter;
afterAll(() => counter?.close());

describe("100,000 spans after an outage", () => {
  test(
    "oldest first, each once, in bounded memory; a kill repeats only the requests in flight",
    () =>
      withSession(async (machine) => {
        // No backend yet: the session settles, and nothing is sent
        await machine.drain();
        counter = await startCounter();
        const env = { OPENHOOK_OTEL_OTLP_ENDPOINT: counter.url, OPENHOOK_OTEL_OUTBOX_MAX_SPANS_PER_SECOND: "1000000" };
        await machine.drain([], env);
        const empty = await drainMeasured(machine, env);
        expect(empty.report).toMatchObject({ sent: 0, waiting: 0 });
        counter.places.length = 0;

        fillOutbox(machine, BACKLOG);
        const killed = machine.start(["drain"], { env });
        await until("a fifth has arrived", () => counter.places.length >= BACKLOG / 5, 120_000);
        killed.kill("SIGKILL");
        await machine.quiet();
        const beforeKill = counter.places.length;
        const { report, peakMib, tookMs } = await drainMeasured(machine, env);
        expect(report).toMatchObject({ waiting: 0, problems: [] });

        const places = new Set(counter.places);
        expect(places.size).toBe(BACKLOG);
        const again = counter.places.length - BACKLOG;
        // Two requests were under way; their spans were sent again, with the same ids
        expect(again).toBeLessThanOrEqual(2 * 512);
        expect(counter.mostAtOnce).toBeLessThanOrEqual(4);
        // Two parallel requests can overtake each other, by as much as one lane sends while the other waits for a processor
        const last = counter.places.slice(beforeKill);
        const overtaken = last.map((place, i) => i + (last[0] ?? 0) - place);
        expect(overtaken.reduce((most, n) => Math.max(most, n), 0)).toBeLessThan(BACKLOG / 10);
        expect(peakMib - empty.peakMib).toBeLessThan(MAX_GROWTH_MIB);
        record({
          area: "backend",
          fault: "100,000 queued spans; the drain is killed after a fifth",
          runs: 1,
          eventsIn: BACKLOG,
          lost: BACKLOG - places.size,
          duplicates: 0,
          recoveryMs: tookMs,
          note: `${again} of them sent again after the kill, with the same ids`,
          figures: {
            spansPerSecond: Math.round((Number(report["sent"]) / tookMs) * 1000),
            peakMib,
            emptyDrainPeakMib: empty.peakMib,
          },
        });
      }),
    300_000,
  );

  test(
    "one drain sends within its limits of time and rate; the next continues",
    () =>
      withSession(async (machine) => {
        await machine.drain();
        const slow = await startCounter();
        try {
          const env = {
            OPENHOOK_OTEL_OTLP_ENDPOINT: slow.url,
            OPENHOOK_OTEL_OTLP_CONCURRENCY: "1",
            OPENHOOK_OTEL_OUTBOX_MAX_DELIVERY_MS: "4000",
            OPENHOOK_OTEL_OUTBOX_MAX_SPANS_PER_SECOND: "1000",
          };
          await machine.drain([], env);
          fillOutbox(machine, 20_000);
          slow.places.length = 0;
          const { report, tookMs, peakMib } = await drainMeasured(machine, env);
          const sent = Number(report["sent"]);
          expect(sent).toBeGreaterThan(1_000);
          // 1000 a second for four seconds, and the first request
          expect(sent).toBeLessThanOrEqual(4_000 + 2 * 512);
          expect(report).toMatchObject({ waiting: 20_000 - sent, problems: [] });
          expect(tookMs).toBeLessThan(4_000 + 30_000);
          const next = await machine.drain([], env);
          expect(new Set(slow.places).size).toBe(sent + Number(next["sent"]));
          expect(slow.places).toEqual(slow.places.map((_, place) => place));
          record({
            area: "backend",
            fault: "20,000 queued spans; limits of 1,000 spans a second and 4 s per drain",
            runs: 1,
            eventsIn: 20_000,
            lost: 0,
            duplicates: 0,
            note: "each drain continues where the previous one stopped",
            figures: { sentByOneDrain: sent, drainMs: tookMs, peakMib },
          });
        } finally {
          await slow.close();
        }
      }),
    120_000,
  );
});

describe("limits of the queue", () => {
  const DAY_MS = 86_400_000;

  test(
    "beyond the limits of age and size the oldest are dropped, counted, logged and reported; the store keeps them",
    () =>
      withSession(async (machine) => {
        await machine.drain();
        const backend = await startCounter();
        try {
          const env = { OPENHOOK_OTEL_OTLP_ENDPOINT: backend.url };
          await machine.drain([], env);
          backend.places.length = 0;
          // 300 a day, the oldest ten days old; a span has about 0.8 KB
          fillOutbox(machine, 3_000, (n) => Date.now() - 10 * DAY_MS + (Math.floor(n / 300) + 0.5) * DAY_MS);
          const limits = { OPENHOOK_OTEL_OUTBOX_MAX_AGE_DAYS: "8", OPENHOOK_OTEL_OUTBOX_MAX_MEGABYTES: "1" };
          const report = await machine.drain([], { ...env, ...limits });
          const dropped = Number(report["dropped"]);
          expect(dropped).toBeGreaterThan(600);
          expect(String(report["problems"])).toMatch(
            /outbox: spans were dropped and will not be sent: 600 were queued for more than 8 days \(outbox\.maxAgeDays\), \d+ exceeded the limit of 1 MB \(outbox\.maxMegabytes\); they stay in the store/,
          );
          expect(report).toMatchObject({ sent: 3_000 - dropped, waiting: 0 });
          expect(Math.min(...backend.places)).toBe(dropped);
          expect(await machine.drain([], { ...env, ...limits })).toMatchObject({ dropped: 0, problems: [] });
          record({
            area: "backend",
            fault: "3,000 queued spans beyond the limits of age and size",
            runs: 1,
            eventsIn: 3_000,
            duplicates: 0,
            note: `the ${dropped} oldest are dropped from the queue: counted, logged, reported, kept in the store`,
          });
        } finally {
          await backend.close();
        }
      }),
    120_000,
  );
});
