import { describe, expect, test } from "vitest";
import { circuitOf, recordDelivery } from "../../src/drain/circuit.ts";
import type { OtlpSignalSettings } from "../../src/model/settings.ts";
import type { DeliverySummary } from "../../src/otlp/deliver.ts";
import type { Database } from "../../src/store/database.ts";
import { temporaryStores } from "../store/temporary.ts";

const stores = temporaryStores();
const BEGAN_MS = 1_760_000_000_000;
const HOUR_MS = 3_600_000;
const SETTINGS: OtlpSignalSettings = {
  url: "http://collector.example:4318/v1/traces",
  protocol: "http/protobuf",
  headers: { authorization: "Bearer s3cret" },
  compression: "gzip",
  timeoutMs: 1000,
};
const NOTHING: DeliverySummary = { sent: 0, rejected: 0, oversized: 0, kept: 0 };
const FAILED: DeliverySummary = { ...NOTHING, kept: 5, reason: "away", stopped: "backend", halvings: 1 };
const TAKEN: DeliverySummary = { ...NOTHING, sent: 5 };

const look = (db: Database, nowMs: number, isEager = false, settings = SETTINGS) =>
  circuitOf(db, "traces", settings, nowMs, isEager);
const note = (db: Database, summary: DeliverySummary, nowMs: number): void =>
  recordDelivery(db, "traces", SETTINGS, summary, look(db, nowMs), nowMs);

/** How long after `fromMs` a hook's drain asks again; to a second. */
function waitMs(db: Database, fromMs: number): number {
  for (let ms = 0; ms <= 2 * HOUR_MS; ms += 1000) if (look(db, fromMs + ms).isDue) return ms;
  return Number.POSITIVE_INFINITY;
}

describe("a backend that fails", () => {
  test("is left alone for longer each time, half an hour at most; success ends that", () => {
    const db = stores.open();
    expect(look(db, BEGAN_MS)).toEqual({ isDue: true, failures: 0, halvings: 0 });
    const waits: number[] = [];
    let nowMs = BEGAN_MS;
    for (let n = 0; n < 12; n++) {
      note(db, FAILED, nowMs);
      waits.push(waitMs(db, nowMs));
      nowMs += waits.at(-1) ?? 0;
    }
    for (const [n, ms] of waits.entries()) {
      const fullMs = Math.min(15_000 * 2 ** n, HOUR_MS / 2);
      expect(ms).toBeGreaterThanOrEqual(fullMs / 2);
      expect(ms).toBeLessThanOrEqual(fullMs + 1000);
    }
    note(db, TAKEN, nowMs);
    expect(look(db, nowMs)).toEqual({ isDue: true, failures: 0, halvings: 0 });
  });

  test("machines do not come back together", () => {
    const db = stores.open();
    const waits = new Set<number>();
    for (let machine = 0; machine < 60; machine++) {
      for (let failures = 0; failures < 3; failures++) note(db, FAILED, BEGAN_MS);
      waits.add(waitMs(db, BEGAN_MS));
      note(db, TAKEN, BEGAN_MS);
    }
    // Of some thirty: that so many draws give so few will not happen
    expect(waits.size).toBeGreaterThan(4);
  });

  test("is asked at once by hand, and when it is another one", () => {
    const db = stores.open();
    note(db, FAILED, BEGAN_MS);
    expect(look(db, BEGAN_MS + 1).isDue).toBe(false);
    expect(look(db, BEGAN_MS + 1, true)).toMatchObject({ isDue: true, failures: 1, halvings: 1 });
    const mended = { ...SETTINGS, headers: { authorization: "Bearer other" } };
    expect(look(db, BEGAN_MS + 1, false, mended)).toEqual({ isDue: true, failures: 0, halvings: 0 });
  });

  test("after it had taken some is asked soon", () => {
    const db = stores.open();
    for (let n = 0; n < 8; n++) note(db, FAILED, BEGAN_MS);
    note(db, { ...FAILED, sent: 4, halvings: 5 }, BEGAN_MS);
    expect(waitMs(db, BEGAN_MS)).toBeLessThanOrEqual(15_000);
    expect(look(db, BEGAN_MS)).toMatchObject({ failures: 1, halvings: 5 });
  });
});

test("what a backend asked for is kept by hand as well, and told", () => {
  const db = stores.open();
  note(db, { ...FAILED, afterMs: 60_000 }, BEGAN_MS);
  expect(look(db, BEGAN_MS + 59_000, true)).toMatchObject({ isDue: false, askedUntilMs: BEGAN_MS + 60_000 });
  expect(look(db, BEGAN_MS + 60_000, true)).toMatchObject({ isDue: true });
});

test("a clock that was ahead when it was noted holds nothing up", () => {
  const db = stores.open();
  note(db, { ...FAILED, afterMs: 60_000 }, BEGAN_MS + 365 * 24 * HOUR_MS);
  expect(look(db, BEGAN_MS)).toMatchObject({ isDue: true });
});

test("bad content among good, and a time that is over, are no failures", () => {
  const db = stores.open();
  note(db, { ...NOTHING, sent: 5, kept: 1, reason: "bad span", httpStatus: 400 }, BEGAN_MS);
  expect(look(db, BEGAN_MS)).toMatchObject({ isDue: true, failures: 0 });
  note(db, { ...NOTHING, sent: 5, stopped: "time" }, BEGAN_MS);
  expect(look(db, BEGAN_MS)).toMatchObject({ isDue: true, failures: 0 });
});
